"""Plugins that come with Hark. They use what every plugin author can use."""

from collections.abc import Mapping
from typing import Final

from hark.builtin.cancel import Cancel
from hark.builtin.common_query import CommonQuery
from hark.builtin.converse import Converse
from hark.builtin.correction import Correction
from hark.builtin.fallback import Fallback
from hark.builtin.intent_matchers import KeywordMatcher, TemplateMatcher
from hark.builtin.interrupt import Interrupt
from hark.builtin.normalize import Normalize
from hark.builtin.remarks import Remarks
from hark.builtin.several import Several
from hark.builtin.skills.calculator import CalculatorSkill
from hark.builtin.skills.chance import ChanceSkill
from hark.builtin.skills.clock import ClockSkill
from hark.builtin.skills.dates import DatesSkill
from hark.builtin.skills.facts import FactsSkill
from hark.builtin.skills.guessing import GuessingSkill
from hark.builtin.skills.help import HelpSkill
from hark.builtin.skills.jokes import JokesSkill
from hark.builtin.skills.limits import LimitsSkill
from hark.builtin.skills.parrot import ParrotSkill
from hark.builtin.skills.repeat import RepeatSkill
from hark.builtin.skills.shopping import ShoppingSkill
from hark.builtin.skills.smalltalk import SmallTalkSkill
from hark.builtin.skills.sources import SourcesSkill
from hark.builtin.skills.spelling import SpellingSkill
from hark.builtin.skills.timers import TimersSkill
from hark.builtin.skills.volume import VolumeSkill
from hark.builtin.skills.weather import WeatherSkill
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
"""The stages that the specifications describe, in their order."""

PIPELINE: Final[tuple[type[PipelinePlugin], ...]] = (
    Stop,
    Interrupt,
    Converse,
    Several,
    Correction,
    TemplateMatcher,
    KeywordMatcher,
    CommonQuery,
    Fallback,
)
"""The default pipeline, in its order: these, and Hark's own for what people say beyond one plain command."""

OPTIONAL: Final[Mapping[str, str]] = {
    "hassil": "hark.builtin.hassil:HassilMatcher",
    "mcp": "hark.builtin.mcp:McpServers",
    "persona": "hark.builtin.persona:Persona",
}
"""Plugins that are loaded only where the settings name them: what they need is an extra."""

DEFAULT_PLUGINS: Final[tuple[type[Plugin], ...]] = (
    Normalize,
    Cancel,
    *PIPELINE,
    Values,
    Remarks,
    HelpSkill,
    ClockSkill,
    DatesSkill,
    TimersSkill,
    ShoppingSkill,
    CalculatorSkill,
    WeatherSkill,
    FactsSkill,
    SourcesSkill,
    JokesSkill,
    GuessingSkill,
    ChanceSkill,
    SpellingSkill,
    ParrotSkill,
    RepeatSkill,
    VolumeSkill,
    SmallTalkSkill,
    LimitsSkill,
)
"""What an assistant loads unless its settings say otherwise."""

__all__ = [
    "DEFAULT_PLUGINS",
    "MATCHERS",
    "OPTIONAL",
    "PIPELINE",
    "CalculatorSkill",
    "Cancel",
    "ChanceSkill",
    "ClockSkill",
    "CommonQuery",
    "Converse",
    "Correction",
    "DatesSkill",
    "FactsSkill",
    "Fallback",
    "GuessingSkill",
    "HelpSkill",
    "Interrupt",
    "JokesSkill",
    "KeywordMatcher",
    "LimitsSkill",
    "Normalize",
    "ParrotSkill",
    "Remarks",
    "RepeatSkill",
    "Several",
    "ShoppingSkill",
    "SmallTalkSkill",
    "SourcesSkill",
    "SpellingSkill",
    "Stop",
    "TemplateMatcher",
    "TimersSkill",
    "Values",
    "VolumeSkill",
    "WeatherSkill",
]
