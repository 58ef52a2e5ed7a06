"""Mutants of the reference: each changes one expression, and a case or a recording has to notice.

`python -m tests.mutants` draws a sample, runs only the cases that reach the changed line, and lists what survives.
"""
