"""Facts and definitions, by Wikipedia and Wiktionary."""

from hark.builtin.skills.facts.skill import FactsSkill

__all__ = ["FactsSkill"]
