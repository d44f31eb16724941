"""Everything a plugin author imports."""

from hark.model import Audio, Clock, ContextEntry, Match, Message, Session
from hark.plugins.base import Plugin
from hark.plugins.ctx import Ctx
from hark.plugins.handlers import handles
from hark.plugins.host import Host
from hark.plugins.pipeline import Declined, PipelinePlugin, Round
from hark.plugins.transformers import (
    AudioTransformer,
    DialogTransformer,
    IntentTransformer,
    MetadataTransformer,
    Transformer,
    TTSTransformer,
    UtteranceTransformer,
)
from hark.plugins.turn import Turn

__all__ = [
    "Audio",
    "AudioTransformer",
    "Clock",
    "ContextEntry",
    "Ctx",
    "Declined",
    "DialogTransformer",
    "Host",
    "IntentTransformer",
    "Match",
    "Message",
    "MetadataTransformer",
    "PipelinePlugin",
    "Plugin",
    "Round",
    "Session",
    "TTSTransformer",
    "Transformer",
    "Turn",
    "UtteranceTransformer",
    "handles",
]
