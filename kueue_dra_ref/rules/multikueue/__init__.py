"""Rules about work that a manager dispatches to workers (Kueue: pkg/controller/admissionchecks/multikueue)."""
