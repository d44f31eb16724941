"""Every topic Hark emits or consumes, and the shape all topics have (MSG-1 §2.1)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from hark.spec.names import TRANSFORMER_TYPES, TransformerType

# The utterance lifecycle (PIPELINE-1 §9, TRANSFORM-1 §8).
UTTERANCE_HANDLE: Final = "ovos.utterance.handle"
UTTERANCE_HANDLED: Final = "ovos.utterance.handled"
UTTERANCE_SPEAK: Final = "ovos.utterance.speak"
UTTERANCE_SPEAK_B64: Final = "ovos.utterance.speak.b64"
UTTERANCE_CANCELLED: Final = "ovos.utterance.cancelled"
INTENT_MATCHED: Final = "ovos.intent.matched"
INTENT_UNMATCHED: Final = "ovos.intent.unmatched"
HANDLER_START: Final = "ovos.intent.handler.start"
HANDLER_COMPLETE: Final = "ovos.intent.handler.complete"
HANDLER_ERROR: Final = "ovos.intent.handler.error"

LIFECYCLE: Final = frozenset(
    {
        UTTERANCE_HANDLED,
        UTTERANCE_CANCELLED,
        INTENT_MATCHED,
        INTENT_UNMATCHED,
        HANDLER_START,
        HANDLER_COMPLETE,
        HANDLER_ERROR,
    }
)
"""What says how a turn goes: a client that could emit it could end the turns of others."""

# Sessions (SESSION-1 §2.5).
SESSION_REJECTED: Final = "ovos.session.rejected"

# Registration (INTENT-4 §5 to §8, §10).
REGISTER_KEYWORD: Final = "ovos.intent.register.keyword"
REGISTER_TEMPLATE: Final = "ovos.intent.register.template"
ENTITY_REGISTER: Final = "ovos.entity.register"
INTENT_DEREGISTER: Final = "ovos.intent.deregister"
ENTITY_DEREGISTER: Final = "ovos.entity.deregister"
SKILL_DEREGISTER: Final = "ovos.skill.deregister"
INTENT_ENABLE: Final = "ovos.intent.enable"
INTENT_DISABLE: Final = "ovos.intent.disable"
SKILL_LOADED: Final = "ovos.skill.loaded"

REGISTRATION: Final = (
    REGISTER_KEYWORD,
    REGISTER_TEMPLATE,
    ENTITY_REGISTER,
    INTENT_DEREGISTER,
    ENTITY_DEREGISTER,
    SKILL_DEREGISTER,
    INTENT_ENABLE,
    INTENT_DISABLE,
    SKILL_LOADED,
)

# The readiness announcement (INTENT-4 §10 leaves its name to the deployment): programs register again.
INTENTS_READY: Final = "ovos.intents.ready"

# Introspection (INTENT-4 §10); the answers come on `.response`.
INTENT_LIST: Final = "ovos.intent.list"
INTENT_DESCRIBE: Final = "ovos.intent.describe"
SKILLS_LIST: Final = "ovos.skills.list"

# Intent context over the bus (CONTEXT-1 version 1, ruling R6).
CONTEXT_SET: Final = "ovos.context.set"
CONTEXT_UNSET: Final = "ovos.context.unset"
CONTEXT_CLEAR: Final = "ovos.context.clear"

# A dialogue (CONVERSE-1 §4, §6; STOP-1; FALLBACK-1; COMMON-QUERY-1).
CONVERSE_PING: Final = "ovos.converse.ping"
CONVERSE_PONG: Final = "ovos.converse.pong"
CONVERSE_ACTIVE_LIST: Final = "ovos.converse.active.list"
STOP: Final = "ovos.stop"
STOP_PING: Final = "ovos.stop.ping"
STOP_PONG: Final = "ovos.stop.pong"
FALLBACK_REGISTER: Final = "ovos.fallback.register"
FALLBACK_DEREGISTER: Final = "ovos.fallback.deregister"
FALLBACK_PING: Final = "ovos.fallback.ping"
FALLBACK_PONG: Final = "ovos.fallback.pong"
COMMON_QUERY_PING: Final = "ovos.common_query.ping"
COMMON_QUERY_PONG: Final = "ovos.common_query.pong"
COMMON_QUERY_REQUEST: Final = "ovos.common_query.request"
COMMON_QUERY_RESPONSE: Final = "ovos.common_query.response"

# Personas (PERSONA-1 §8.5, §8.7, §9, §11).
PERSONA_QUERY: Final = "ovos.persona.query"
PERSONA_ANSWER: Final = "ovos.persona.answer"
PERSONA_LIST: Final = "ovos.persona.list"
PERSONA_REGISTER: Final = "ovos.persona.register"
PERSONA_DEREGISTER: Final = "ovos.persona.deregister"
PERSONA_ACTIVATED: Final = "ovos.persona.activated"
PERSONA_DISMISSED: Final = "ovos.persona.dismissed"

# Tools (TOOLS-1 §4, §5); the answers come on `.response`.
PERSONA_TOOLS_DISCOVER: Final = "ovos.persona.tools.discover"
PERSONA_TOOLS_CALL: Final = "ovos.persona.tools.call"
TOOLS_LIST: Final = "ovos.tools.list"
TOOLS_GET: Final = "ovos.tools.get"
TOOLS_INVOKE: Final = "ovos.tools.invoke"
TOOLS_RELOAD: Final = "ovos.tools.reload"

# Listening (AUDIO-IN-1 §5, §6; `ovos.mic.listen` is AUDIO-1 §4.4).
LISTENER_WAKEWORD: Final = "ovos.listener.wakeword"
LISTENER_RECORD_STARTED: Final = "ovos.listener.record.started"
LISTENER_RECORD_ENDED: Final = "ovos.listener.record.ended"
LISTENER_SLEEP: Final = "ovos.listener.sleep"
LISTENER_WAKE: Final = "ovos.listener.wake"
LISTENER_AWOKEN: Final = "ovos.listener.awoken"
STT_FAILED: Final = "ovos.stt.failed"
MIC_LISTEN: Final = "ovos.mic.listen"

# Audio output (AUDIO-1 §3 to §6).
AUDIO_SPEECH: Final = "ovos.audio.speech"
AUDIO_QUEUE: Final = "ovos.audio.queue"
AUDIO_PLAY_SOUND: Final = "ovos.audio.play_sound"
AUDIO_STOP: Final = "ovos.audio.stop"
AUDIO_IS_SPEAKING: Final = "ovos.audio.is_speaking"
AUDIO_OUTPUT_STARTED: Final = "ovos.audio.output.started"
AUDIO_OUTPUT_ENDED: Final = "ovos.audio.output.ended"

# The loudness of this device's playback, `level` from 0 to 100; no specification has one.
AUDIO_VOLUME: Final = "ovos.audio.volume"
# How a handler of an OVOS skill ends (ruling R18).
LEGACY_HANDLER_START: Final = "mycroft.skill.handler.start"
LEGACY_HANDLER_COMPLETE: Final = "mycroft.skill.handler.complete"
LEGACY_HANDLER_ERROR: Final = "mycroft.skill.handler.error"

# Scheduled events (SCHEDULER-1 §4); the answers come on `.response`. The last one is the signal of §7.2.
SCHEDULER_SCHEDULE: Final = "ovos.scheduler.schedule"
SCHEDULER_CANCEL: Final = "ovos.scheduler.cancel"
SCHEDULER_GET: Final = "ovos.scheduler.get"
SCHEDULER_LIST: Final = "ovos.scheduler.list"
SCHEDULER_MISSED: Final = "ovos.scheduler.missed"
SCHEDULER_READY: Final = "ovos.scheduler.ready"
CLOCK_SYNCED: Final = "system.clock.synced"

# Hark's own, private topics: no other party may rely on them.
HANDLER_ACCEPTED: Final = "hark.handler.accepted"
HANDLER_DONE: Final = "hark.handler.done"
HANDLER_WAITING: Final = "hark.handler.waiting"
HANDLER_ACTIVE: Final = "hark.handler.active"
QUESTION_WITHDRAWN: Final = "hark.question.withdrawn"
REMARK_NONE: Final = "hark.remark.none"
INTENT_PREVIEW: Final = "hark.intent.preview"
INTENT_PREVIEW_RESPONSE: Final = "hark.intent.preview.response"
HOST_ALIVE: Final = "hark.host.alive"
HANDLER_CALL: Final = "hark.handler.call"
HOST_STATUS: Final = "hark.host.status"
HOST_STATUS_RESPONSE: Final = "hark.host.status.response"
SPEECH_RENDERED: Final = "hark.speech.rendered"
SCHEDULED_CALL: Final = "hark.scheduled.call"
SESSION_CHANGED: Final = "hark.session.changed"
SKILL_ATTACHED: Final = "hark.skill.attached"
SKILL_DETACHED: Final = "hark.skill.detached"
SKILL_ASK: Final = "hark.skill.ask"
READY: Final = "hark.ready"
TOOLS_CHANGED: Final = "hark.tools.changed"
TOOL_SAID: Final = "hark.tool.said"
ANSWER_SOURCES: Final = "hark.answer.sources"
LISTENER_STATE: Final = "hark.listener.state"
LISTENER_PARTIAL: Final = "hark.listener.partial"

# ... between the processes of one assistant: presence, whether Messages were taken in, requests for traces and state.
PROCESS_PING: Final = "hark.process.ping"
PROCESS_PONG: Final = "hark.process.pong"
PLUGINS: Final = "hark.plugins"
PLUGINS_ASK: Final = "hark.plugins.ask"
BUS_AGAIN: Final = "hark.bus.again"
SETTLE: Final = "hark.settle"
SETTLED: Final = "hark.settled"
TRACE_REQUEST: Final = "hark.trace.request"
TRACE_REPLY: Final = "hark.trace.reply"
EXAMINE_REQUEST: Final = "hark.examine.request"
EXAMINE_REPLY: Final = "hark.examine.reply"
FORGET_REQUEST: Final = "hark.forget.request"
FORGET_REPLY: Final = "hark.forget.reply"
SESSION_REQUEST: Final = "hark.session.request"
SESSION_REPLY: Final = "hark.session.reply"
PRESENCE: Final = "hark.presence"
PRESENCE_ASK: Final = "hark.presence.ask"
SPEECH_SHOWN: Final = "hark.speech.shown"

_PRIVATE: Final = "hark."
_RESERVED: Final = (_PRIVATE, "ovos.")

_TOPIC = re.compile(r"[A-Za-z0-9_-]++(?:[.:][A-Za-z0-9_-]++)*+")
_RESPONSE = ".response"


def is_topic(topic: object) -> bool:
    """Whether `topic` has the shape MSG-1 §2.1 asks of every topic, with at most one colon."""
    return isinstance(topic, str) and (_is_topic(topic) if len(topic) <= _LONGEST_CACHED else _has_shape(topic))


def _has_shape(topic: str) -> bool:
    return _TOPIC.fullmatch(topic) is not None and topic.count(":") <= 1


# The same few topics are checked again and again. An untrusted client may send a megabyte as one: not worth keeping.
_is_topic = lru_cache(maxsize=4096)(_has_shape)
_LONGEST_CACHED: Final = 200


def is_private(topic: str) -> bool:
    """Whether `topic` is one of Hark's own, which only its own services emit and receive."""
    return topic.startswith(_PRIVATE)


def is_reserved(topic: str) -> bool:
    """Whether `topic` is one of Hark's own or of the specifications: no event of a skill has such a name."""
    return topic.startswith(_RESERVED)


def old_tools_call(toolbox_id: str) -> str:
    """The topic on which a toolbox was called before it was named in the payload (TOOLS-1 §6)."""
    return f"ovos.persona.tools.{toolbox_id}.call"


def is_dispatch_topic(topic: str) -> bool:
    """Whether `topic` is a dispatch, `<skill_id>:<intent_name>`."""
    return ":" in topic


def dispatch_topic(skill_id: str, intent_name: str) -> str:
    """The topic on which the handler of one intent is called (PIPELINE-1 §7)."""
    return f"{skill_id}:{intent_name}"


def split_dispatch(topic: str) -> tuple[str, str]:
    """The `skill_id` and `intent_name` a dispatch topic is made of."""
    skill_id, _, intent_name = topic.partition(":")
    return skill_id, intent_name


def response_topic(topic: str) -> str:
    """The answer topic of a request; refuses dispatches and topics that are answers already (MSG-1 §5.3)."""
    if ":" in topic or topic.endswith(_RESPONSE):
        raise ValueError(f"{topic!r} has no .response topic: name the answer topic and use reply()")
    return topic + _RESPONSE


def answer_topic(topic: str) -> str:
    """The topic on which a poll or request is answered: `.pong` for a `.ping`, else `.response`."""
    return topic.removesuffix(".ping") + ".pong" if topic.endswith(".ping") else response_topic(topic)


def transformer_list(kind: TransformerType) -> str:
    """The query topic that lists the loaded transformers of one type (TRANSFORM-1 §6)."""
    if kind not in TRANSFORMER_TYPES:
        raise ValueError(f"no transformer type {kind!r}")
    return f"ovos.transformer.{kind}.list"


def pipeline_intents_list(pipeline_id: str) -> str:
    """The query topic that lists what one pipeline plugin can match (PIPELINE-1 §10.1)."""
    return f"ovos.pipeline.{pipeline_id}.intents.list"
