"""Cases that run on each target."""
