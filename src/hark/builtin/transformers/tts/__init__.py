"""Transformers of the tts chain: on synthesised speech."""
