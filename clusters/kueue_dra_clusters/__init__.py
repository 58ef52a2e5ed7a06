"""How to have a real Kueue: provisioning, live targets, waiting."""
