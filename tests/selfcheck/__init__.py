"""Proof that the suite can fail, that the catalogue is whole and that the layers hold."""
