"""Tests of the live targets: what they make of answers, and, marked ``live``, what they do to a real Kueue."""
