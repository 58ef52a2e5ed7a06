"""Counters and capacities of devices."""
