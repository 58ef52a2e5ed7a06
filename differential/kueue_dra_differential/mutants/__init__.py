"""Mutants of the reference: each changes one expression of a module that decides."""
