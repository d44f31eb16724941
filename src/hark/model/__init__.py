"""The values that flow through the assistant; all of them are immutable."""

from hark.model.audio import Audio
from hark.model.clock import Clock, SystemClock, Timer
from hark.model.codec import decode, encode, encode_for_clients, encode_foreign
from hark.model.errors import MalformedMessage, MalformedSession
from hark.model.frozen import Frozen, freeze, thaw
from hark.model.match import Match
from hark.model.message import Message
from hark.model.session import Session
from hark.model.session_codec import ContextEntry, Handler, Location, ResponseMode

__all__ = [
    "Audio",
    "Clock",
    "ContextEntry",
    "Frozen",
    "Handler",
    "Location",
    "MalformedMessage",
    "MalformedSession",
    "Match",
    "Message",
    "ResponseMode",
    "Session",
    "SystemClock",
    "Timer",
    "decode",
    "encode",
    "encode_for_clients",
    "encode_foreign",
    "freeze",
    "thaw",
]
