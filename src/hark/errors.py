"""Errors that a user can correct."""

from __future__ import annotations


class UserError(Exception):
    """Something is not as it has to be. The text says what and where, and what to do: it is all that is shown."""
