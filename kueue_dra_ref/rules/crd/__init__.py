"""Rules of the CustomResourceDefinitions (Kueue: apis/kueue)."""
