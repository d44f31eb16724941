"""Transformers of the audio chain: on recorded speech, before recognition."""
