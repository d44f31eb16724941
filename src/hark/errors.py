"""Errors that a user can correct."""

from __future__ import annotations


class UserError(Exception):
    """An error that the user can correct. Only its text is shown: what is wrong, where, and what to do."""
