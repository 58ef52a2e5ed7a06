"""The counterparts that docstrings name in Kueue, and the lists of symbols that they are checked against."""
