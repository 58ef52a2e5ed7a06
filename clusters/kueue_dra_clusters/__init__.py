"""Runs a real Kueue: binaries, control planes, live targets, waiting."""
