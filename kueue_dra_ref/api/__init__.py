"""Manifests and nouns: versions, defaults, quantities, names, documents."""
