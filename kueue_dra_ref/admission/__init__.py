"""Queues, flavors and the scheduling cycle."""
