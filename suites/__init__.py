"""The cases."""
