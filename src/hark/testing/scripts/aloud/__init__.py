"""Conversations that are really spoken and heard: with voices, a recogniser, and a clock that counts samples."""
