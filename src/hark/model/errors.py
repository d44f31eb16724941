"""The exceptions for malformed values."""

from __future__ import annotations


class MalformedMessage(ValueError):
    """Not a Message; the text says why. Such input is logged and dropped (MSG-1 §6.1)."""


class MalformedSession(ValueError):
    """A session field was given a value its specification does not allow."""
