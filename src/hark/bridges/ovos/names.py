"""Topics of OVOS that have another name here, and how their payloads differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from hark.spec import topics

Payload = Mapping[str, Any]

RENAMED: Final[Mapping[str, str]] = {
    "recognizer_loop:utterance": topics.UTTERANCE_HANDLE,
    "speak": topics.UTTERANCE_SPEAK,
    "speak:b64_audio": topics.UTTERANCE_SPEAK_B64,
    "speak:b64_audio.response": topics.AUDIO_SPEECH,
    "complete_intent_failure": topics.INTENT_UNMATCHED,
    "recognizer_loop:audio_output_start": topics.AUDIO_OUTPUT_STARTED,
    "recognizer_loop:audio_output_end": topics.AUDIO_OUTPUT_ENDED,
    "mycroft.audio.queue": topics.AUDIO_QUEUE,
    "mycroft.audio.play_sound": topics.AUDIO_PLAY_SOUND,
    "mycroft.audio.speak.status": topics.AUDIO_IS_SPEAKING,
    "mycroft.audio.speech.stop": topics.AUDIO_STOP,
    "mycroft.mic.listen": topics.MIC_LISTEN,
    "recognizer_loop:record_begin": topics.LISTENER_RECORD_STARTED,
    "recognizer_loop:record_end": topics.LISTENER_RECORD_ENDED,
    "recognizer_loop:wakeword": topics.LISTENER_WAKEWORD,
    "recognizer_loop:sleep": topics.LISTENER_SLEEP,
    "recognizer_loop:wake_up": topics.LISTENER_WAKE,
    "recognizer_loop:speech.recognition.unknown": topics.STT_FAILED,
    "mycroft.awoken": topics.LISTENER_AWOKEN,
    "mycroft.stop": topics.STOP,
    "skill.stop.pong": topics.STOP_PONG,
    "skill.converse.pong": topics.CONVERSE_PONG,
    "ovos.skills.fallback.register": topics.FALLBACK_REGISTER,
    "ovos.skills.fallback.deregister": topics.FALLBACK_DEREGISTER,
    "ovos.skills.fallback.ping": topics.FALLBACK_PING,
    "ovos.skills.fallback.pong": topics.FALLBACK_PONG,
    "detach_skill": topics.SKILL_DEREGISTER,
}
"""The name here of each topic that only has another name, or whose payload differs by a field."""

LEGACY: Final[Mapping[str, str]] = {
    spec: old
    for old, spec in RENAMED.items()
    # Deregistrations are never sent back: an older skill takes any of them for its own.
    if spec not in (topics.SKILL_DEREGISTER, topics.STOP_PONG, topics.CONVERSE_PONG, topics.FALLBACK_PONG)
}
"""What clients of the older line get besides the Message itself."""

NEW_NAMES: Final = frozenset(RENAMED.values()) - {topics.FALLBACK_REGISTER, topics.FALLBACK_DEREGISTER}
"""A client that uses one of these knows the names of the specifications."""

TWIN_MARKS: Final = ("_namespace_compat_twin", "_intent_compat_twin")
"""Context keys of a copy under its older name, sent beside a Message by clients of the newer line."""


def _to_speech(data: Payload) -> dict[str, Any]:
    spoken = dict(data)
    listen = spoken.pop("expect_response", None)
    if "listen" not in spoken and isinstance(listen, bool):
        spoken["listen"] = listen
    return spoken


def _from_speech(data: Payload) -> dict[str, Any]:
    return {"meta": {}, **data, "expect_response": bool(data.get("listen", False))}


_UP: Final[Mapping[str, Callable[[Payload], dict[str, Any]]]] = {
    "speak": _to_speech,
    topics.UTTERANCE_SPEAK: _to_speech,  # with the older field also from the newer line
}
_DOWN: Final[Mapping[str, Callable[[Payload], dict[str, Any]]]] = {topics.UTTERANCE_SPEAK: _from_speech}


def payload_up(legacy: str, data: Payload) -> Payload:
    """The payload under the name here of what came under an older one."""
    convert = _UP.get(legacy)
    return convert(data) if convert is not None else data


def payload_down(topic: str, data: Payload) -> Payload:
    """The payload that older clients expect under the older name of a topic."""
    convert = _DOWN.get(topic)
    return convert(data) if convert is not None else data


_ENTITY: Final = re.compile(r"(?P<name>.+?)(?:\.entity)?(?:_[0-9a-f]{32})?")


def alphanumeric(skill_id: str) -> str:
    """What older skills put before the names of their keywords."""
    return "".join(letter if letter.isalnum() else "_" for letter in skill_id)


def own_name(skill_id: str, name: str) -> str:
    """The name of a keyword or of its context without what stands before it."""
    return name.removeprefix(alphanumeric(skill_id)) or name


def split_name(name: str) -> tuple[str, str]:
    """The skill and the own name in `skill:name`; the skill is empty where there is none."""
    skill_id, colon, rest = name.partition(":")
    return (skill_id, rest) if colon else ("", name)


def entity_name(name: str) -> str:
    """The name of a slot in the name an older skill registers its values under, such as `city.entity_<hash>`."""
    found = _ENTITY.fullmatch(split_name(name)[1])
    return found["name"] if found is not None else name
