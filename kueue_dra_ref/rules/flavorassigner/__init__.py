"""Rules that assign flavors (Kueue: pkg/scheduler/flavorassigner)."""
