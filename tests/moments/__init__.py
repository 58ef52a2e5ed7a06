"""Moments: dumps of a real Kueue in the middle of generated scenarios, and what the commands answer about them."""
