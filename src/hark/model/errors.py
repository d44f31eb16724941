"""What can be wrong with a value."""

from __future__ import annotations


class MalformedMessage(ValueError):
    """Not a Message: the reason is for a log line, and the thing itself is dropped (MSG-1 §6.1)."""


class MalformedSession(ValueError):
    """A session field was given a value its specification does not allow."""
