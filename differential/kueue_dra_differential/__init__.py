"""Generates random scenarios, runs them on the reference and on a real Kueue, and compares."""
