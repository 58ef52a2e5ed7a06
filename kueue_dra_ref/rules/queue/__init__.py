"""Rules about pending workloads, queues and cohorts (Kueue: pkg/cache)."""
