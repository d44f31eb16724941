"""Corrections of what was said before."""

from hark.builtin.correction.plugin import Correction

__all__ = ["Correction"]
