"""Negative controls: a judge that is misconfigured on purpose has to turn the named cases red, and only those."""
