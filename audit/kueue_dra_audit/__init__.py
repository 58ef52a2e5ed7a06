"""Audits a running cluster: whether what it says follows from its objects, its Configuration and its release."""
