"""Plugins that come with Hark. They use what every plugin author can use."""

from collections.abc import Mapping
from typing import Final

from hark.builtin.cancel import Cancel
from hark.builtin.common_query import CommonQuery
from hark.builtin.converse import Converse
from hark.builtin.fallback import Fallback
from hark.builtin.intent_matchers import KeywordMatcher, TemplateMatcher
from hark.builtin.normalize import Normalize
from hark.builtin.skills.calculator import CalculatorSkill
from hark.builtin.skills.clock import ClockSkill
from hark.builtin.skills.guessing import GuessingSkill
from hark.builtin.skills.help import HelpSkill
from hark.builtin.skills.jokes import JokesSkill
from hark.builtin.skills.parrot import ParrotSkill
from hark.builtin.skills.shopping import ShoppingSkill
from hark.builtin.skills.timers import TimersSkill
from hark.builtin.stop import Stop
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

OPTIONAL: Final[Mapping[str, str]] = {"hassil": "hark.builtin.hassil:HassilMatcher"}
"""Matchers that are loaded only where the pipeline names them: what they need is an extra."""

DEFAULT_PLUGINS: Final[tuple[type[Plugin], ...]] = (
    Normalize,
    Cancel,
    *MATCHERS,
    Values,
    ClockSkill,
    TimersSkill,
    ShoppingSkill,
    CalculatorSkill,
    JokesSkill,
    GuessingSkill,
    ParrotSkill,
    HelpSkill,
)
"""What an assistant loads unless its settings say otherwise."""

__all__ = [
    "DEFAULT_PLUGINS",
    "MATCHERS",
    "OPTIONAL",
    "CalculatorSkill",
    "Cancel",
    "ClockSkill",
    "CommonQuery",
    "Converse",
    "Fallback",
    "GuessingSkill",
    "HelpSkill",
    "JokesSkill",
    "KeywordMatcher",
    "Normalize",
    "ParrotSkill",
    "ShoppingSkill",
    "Stop",
    "TemplateMatcher",
    "TimersSkill",
    "Values",
]
