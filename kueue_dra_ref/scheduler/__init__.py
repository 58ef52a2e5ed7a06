"""One scheduling cycle (Kueue: pkg/scheduler)."""
