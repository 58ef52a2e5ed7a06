"""Feature gates and their defaults by release (Kueue: pkg/features)."""
