"""Validation and defaults of resource.k8s.io in the API server, before Kueue sees an object."""
