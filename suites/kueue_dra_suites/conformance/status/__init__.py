"""The status that Kueue reports."""
