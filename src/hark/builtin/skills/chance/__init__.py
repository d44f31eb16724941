"""Coins, dice and random numbers."""

from hark.builtin.skills.chance.skill import ChanceSkill

__all__ = ["ChanceSkill"]
