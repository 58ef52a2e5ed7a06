"""Simulations: manifests of a user run on the reference, and the explanation of each decision."""
