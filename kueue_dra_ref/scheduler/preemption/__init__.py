"""The search for preemption targets (Kueue: pkg/scheduler/preemption)."""
