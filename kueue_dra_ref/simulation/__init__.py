"""Whole worlds from files: what a user wrote, played on the reference, and how each decision came about."""
