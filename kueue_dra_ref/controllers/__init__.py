"""The reconcilers and the scheduler loop (Kueue: pkg/controller, pkg/scheduler), in simulated time."""
