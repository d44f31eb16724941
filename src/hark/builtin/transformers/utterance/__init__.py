"""Transformers of the utterance chain: on the text of what was said."""
