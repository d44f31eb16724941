"""Transformers of the intent chain: on an accepted match."""
