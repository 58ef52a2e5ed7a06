"""Rules about one scheduling cycle (Kueue: pkg/scheduler)."""
