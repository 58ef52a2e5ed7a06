"""Cases that any target can judge."""
