"""Quota enforcement."""
