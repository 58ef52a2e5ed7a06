"""From claims to charges (Kueue: pkg/dra)."""
