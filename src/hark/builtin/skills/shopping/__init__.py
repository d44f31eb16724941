"""A shopping list."""

from hark.builtin.skills.shopping.skill import ShoppingSkill

__all__ = ["ShoppingSkill"]
