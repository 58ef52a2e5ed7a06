"""Rules about preemption (Kueue: pkg/scheduler/preemption)."""
