"""Arithmetic and units."""

from hark.builtin.skills.calculator.skill import CalculatorSkill

__all__ = ["CalculatorSkill"]
