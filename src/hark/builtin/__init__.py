"""Plugins that come with Hark. They use what every plugin author can use."""

from typing import Final

from hark.builtin.cancel import Cancel
from hark.builtin.clock import ClockSkill
from hark.builtin.common_query import CommonQuery
from hark.builtin.converse import Converse
from hark.builtin.fallback import Fallback
from hark.builtin.help import HelpSkill
from hark.builtin.keyword import KeywordMatcher
from hark.builtin.normalize import Normalize
from hark.builtin.parrot import ParrotSkill
from hark.builtin.stop import Stop
from hark.builtin.template import TemplateMatcher
from hark.builtin.values import Values
from hark.plugins import PipelinePlugin, Plugin

MATCHERS: Final[tuple[type[PipelinePlugin], ...]] = (
    Stop,
    Converse,
    TemplateMatcher,
    KeywordMatcher,
    CommonQuery,
    Fallback,
)
"""The default pipeline, in its order."""

DEFAULT_PLUGINS: Final[tuple[type[Plugin], ...]] = (
    Normalize,
    Cancel,
    *MATCHERS,
    Values,
    ClockSkill,
    ParrotSkill,
    HelpSkill,
)
"""What an assistant loads unless its settings say otherwise."""

__all__ = [
    "DEFAULT_PLUGINS",
    "MATCHERS",
    "Cancel",
    "ClockSkill",
    "CommonQuery",
    "Converse",
    "Fallback",
    "HelpSkill",
    "KeywordMatcher",
    "Normalize",
    "ParrotSkill",
    "Stop",
    "TemplateMatcher",
    "Values",
]
