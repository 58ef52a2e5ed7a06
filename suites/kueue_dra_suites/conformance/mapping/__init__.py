"""Device-class mapping validation."""
