"""The rules, one file per heading; none imports another."""
