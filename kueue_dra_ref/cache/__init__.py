"""Kueue's caches (Kueue: pkg/cache): the snapshot, the cohort hierarchy, pending workloads."""
