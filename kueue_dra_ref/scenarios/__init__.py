"""Recorded scenarios: files, playback, comparison."""
