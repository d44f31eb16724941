"""Plugins that come with Hark. They use what every plugin author can use."""

from typing import Final

from hark.builtin.cancel import Cancel
from hark.builtin.clock import ClockSkill
from hark.builtin.help import HelpSkill
from hark.builtin.normalize import Normalize
from hark.builtin.parrot import ParrotSkill
from hark.builtin.template import TemplateMatcher
from hark.plugins import Plugin

DEFAULT_PLUGINS: Final[tuple[type[Plugin], ...]] = (
    Normalize,
    Cancel,
    TemplateMatcher,
    ClockSkill,
    ParrotSkill,
    HelpSkill,
)
"""What an assistant loads unless its settings say otherwise."""

__all__ = [
    "DEFAULT_PLUGINS",
    "Cancel",
    "ClockSkill",
    "HelpSkill",
    "Normalize",
    "ParrotSkill",
    "TemplateMatcher",
]
