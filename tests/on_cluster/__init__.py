"""Tests of the container images, and of runs in pods."""
