"""Scheduling with device quota: cohorts, preemption, fair sharing, fewer pods than asked for."""
