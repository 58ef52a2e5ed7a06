"""The steps that `kueue-dra explain` prints."""
