"""Generated worlds, decided by the reference and by a real Kueue beside each other."""
