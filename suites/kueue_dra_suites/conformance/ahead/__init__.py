"""What Kueue 0.20 is announced to change, and what it replaces; provisional."""
