"""What Kueue remembers (Kueue: pkg/cache): the snapshot, the cohort hierarchy, the pending workloads of a ClusterQueue."""
