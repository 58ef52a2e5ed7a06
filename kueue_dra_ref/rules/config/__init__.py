"""Rules about the Configuration (Kueue: pkg/config, pkg/dra/mapper)."""
