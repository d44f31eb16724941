"""Hassil, Home Assistant's matcher, as a pipeline plugin (extra `hassil`)."""

from hark.builtin.hassil.matcher import HassilMatcher

__all__ = ["HassilMatcher"]
