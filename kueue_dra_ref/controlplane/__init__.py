"""The control plane in memory: store, clock, API server, RBAC, informers, and the caches of Kueue."""
