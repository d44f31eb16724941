"""Everything a plugin author imports."""

from hark.model import Audio, Clock, ContextEntry, Match, Message, Session
from hark.plugins.audio_tap import AudioTap, SoundContext
from hark.plugins.handlers import Answer, answers, fallback, handles
from hark.plugins.home import Home
from hark.plugins.pipeline import Declined, Later, PipelinePlugin, Round
from hark.plugins.plugin import Host, Plugin
from hark.plugins.schedules import ScheduledCall, ScheduledTurn, ScheduleError, Schedules, scheduled
from hark.plugins.tools import MalformedTool, Tool, Toolbox, tool
from hark.plugins.transformers import (
    AudioTransformer,
    Ctx,
    DialogTransformer,
    IntentTransformer,
    MetadataTransformer,
    Transformer,
    TTSTransformer,
    UtteranceTransformer,
)
from hark.plugins.turn import Turn

__all__ = [
    "Answer",
    "Audio",
    "AudioTap",
    "AudioTransformer",
    "Clock",
    "ContextEntry",
    "Ctx",
    "Declined",
    "DialogTransformer",
    "Home",
    "Host",
    "IntentTransformer",
    "Later",
    "MalformedTool",
    "Match",
    "Message",
    "MetadataTransformer",
    "PipelinePlugin",
    "Plugin",
    "Round",
    "ScheduleError",
    "ScheduledCall",
    "ScheduledTurn",
    "Schedules",
    "Session",
    "SoundContext",
    "TTSTransformer",
    "Tool",
    "Toolbox",
    "Transformer",
    "Turn",
    "UtteranceTransformer",
    "answers",
    "fallback",
    "handles",
    "scheduled",
    "tool",
]
