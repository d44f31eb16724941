"""Guessing a number."""

from hark.builtin.skills.guessing.skill import GuessingSkill

__all__ = ["GuessingSkill"]
