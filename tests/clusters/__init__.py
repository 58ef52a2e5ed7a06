"""Tests of how a real Kueue is had."""
