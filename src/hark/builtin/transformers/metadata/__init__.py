"""Transformers of the metadata chain: on the context and session of a turn."""
