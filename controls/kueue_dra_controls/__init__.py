"""Negative controls: when a target is misconfigured on purpose, exactly the named cases have to fail."""
