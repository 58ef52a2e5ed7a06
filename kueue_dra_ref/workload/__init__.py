"""What a workload requests (Kueue: pkg/workload)."""
