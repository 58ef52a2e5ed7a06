"""The catalogue of requirements: one TOML file per heading of the texts."""
