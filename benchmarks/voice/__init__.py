"""Measuring voice engines; see README.md."""
