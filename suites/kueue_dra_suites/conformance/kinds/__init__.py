"""Kinds of work other than Jobs, with devices."""
