"""Flavor assignment (Kueue: pkg/scheduler/flavorassigner)."""
