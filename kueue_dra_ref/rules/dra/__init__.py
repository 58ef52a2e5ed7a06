"""Rules about device claims and their charges (Kueue: pkg/dra)."""
