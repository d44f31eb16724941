"""Transformers of the dialog chain: on the text of an answer."""
