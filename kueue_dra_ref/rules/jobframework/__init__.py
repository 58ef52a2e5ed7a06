"""Rules about Jobs and their Workloads (Kueue: pkg/controller/jobframework)."""
