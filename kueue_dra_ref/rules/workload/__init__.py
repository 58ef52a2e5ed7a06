"""Rules about the requests and the status of workloads (Kueue: pkg/workload)."""
