"""The bus as plugins of OVOS know it: listeners by topic, legacy registrations, Messages of ovos-bus-client."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from threading import Event, get_ident
from typing import Any, Final

from hark.model.frozen import EMPTY, thaw
from hark.plugins import Host, Message, Session
from hark.spec import DEFAULT_SESSION_ID, is_dispatch_topic, is_topic, topics
from hark.spec.names import SESSION

Listener = Callable[[Any], object]

REGISTRATIONS: Final = (
    topics.REGISTER_TEMPLATE,
    topics.REGISTER_KEYWORD,
    topics.ENTITY_REGISTER,
    topics.INTENT_DEREGISTER,
    topics.SKILL_DEREGISTER,
)
"""What Hark's own matchers read, told to plugins of OVOS in the words they know."""

OWN: Final = "hark_"
"""How context keys begin that concern Hark alone."""
TRAIN: Final = "mycroft.skills.train"
_SPEAK: Final = ("speak", topics.UTTERANCE_SPEAK)
_LEGACY: Final = frozenset(
    {"padatious:register_intent", "padatious:register_entity", "register_vocab", "register_intent", "detach_intent",
     "detach_skill", TRAIN, "mycroft.skills.trained", "message"}
)  # fmt: skip
"""Topics that stay between the facade and the plugin: Hark's bus has other words for them."""


class LegacyBus:
    """Replaces a `MessageBusClient`. One for each plugin; its listeners run one at a time, on a worker thread."""

    def __init__(self, host: Host, name: str) -> None:
        self._host = host
        self._loop = asyncio.get_running_loop()
        self._listeners: dict[str, list[Listener]] = {}
        self._subscribed: set[str] = set()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=f"opm-{name}")
        self._spoken: dict[int, list[str]] = {}
        self._closed = False
        self.is_untrained = False
        """Whether something was registered since the plugin was last told to train."""
        self.connected_event = Event()
        self.connected_event.set()
        self.started_running = True
        self.session_id = "default"
        host.on(REGISTRATIONS, self._registration)

    # The interface of ovos-bus-client.

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What `isinstance` finds: plugins that are applications of OVOS accept nothing but a `MessageBusClient`."""
        return getattr(import_module("ovos_bus_client"), "MessageBusClient", LegacyBus)

    def on(self, topic: str, listener: Listener) -> None:
        self._listeners.setdefault(topic, []).append(listener)
        if topic not in _LEGACY and is_topic(topic) and topic not in self._subscribed:
            self._subscribed.add(topic)
            self._call(lambda: self._host.on(topic, self._forward))

    def once(self, topic: str, listener: Listener) -> None:
        def called_once(message: Any) -> None:
            self.remove(topic, called_once)
            listener(message)

        self.on(topic, called_once)

    def remove(self, topic: str, listener: Listener) -> None:
        kept = [one for one in self._listeners.get(topic, ()) if one is not listener and one != listener]
        self._listeners[topic] = kept

    def remove_all_listeners(self, topic: str) -> None:
        self._listeners.pop(topic, None)

    def emit(self, message: Any) -> None:
        """What a plugin emits: heard by its own listeners, and by Hark's bus where the topic is one of Hark's."""
        topic, data = str(message.msg_type), dict(message.data or {})
        if topic in _SPEAK:
            self._say(str(data.get("utterance") or ""), data.get("lang"))
            return
        self._deliver(topic, message)
        if topic not in _LEGACY and is_topic(topic) and not is_dispatch_topic(topic):
            self._call(lambda: self._host.emit(topic, data))

    def wait_for_message(self, message_type: str, timeout: float = 3.0) -> Any:
        came, answers = Event(), []

        def answered(message: Any) -> None:
            answers.append(message)
            came.set()

        self.once(message_type, answered)
        came.wait(timeout)
        self.remove(message_type, answered)
        return answers[0] if answers else None

    def wait_for_response(self, message: Any, reply_type: str | None = None, timeout: float = 3.0) -> Any:
        came, answers = Event(), []

        def answered(answer: Any) -> None:
            answers.append(answer)
            came.set()

        topic = reply_type or f"{message.msg_type}.response"
        self.on(topic, answered)
        self.emit(message)
        came.wait(timeout)
        self.remove(topic, answered)
        return answers[0] if answers else None

    def run_in_thread(self) -> None:
        """A facade is always connected."""

    run_forever = run_in_thread

    def close(self) -> None:
        """Deliver nothing more."""
        self._closed = True
        self._worker.shutdown(wait=False, cancel_futures=True)

    # For the bridge.

    def settle(self, *, train: bool = False) -> None:
        """Wait, on a worker thread, until everything was delivered; then have the plugin train what is new."""
        self._submit(lambda: None).result()
        if train and self.is_untrained:
            self.is_untrained = False
            self._submit(lambda: self._run(TRAIN, legacy_message(TRAIN))).result()

    def call(self, topic: str, data: Mapping[str, Any], session: Session) -> list[str]:
        """Deliver a Message at once, on this thread; what the plugin said meanwhile."""
        said = self._spoken[get_ident()] = []
        try:
            self._run(topic, legacy_message(topic, data, session))
        finally:
            del self._spoken[get_ident()]
        return said

    def has_listeners(self, topic: str) -> bool:
        return bool(self._listeners.get(topic))

    def _registration(self, message: Message) -> None:
        for topic, data in translated(message):
            if self._listeners.get(topic):
                self.is_untrained = True
                legacy = legacy_message(topic, data)
                legacy.context["skill_id"] = data.get("skill_id") or message.data.get("skill_id")
                self._submit(lambda topic=topic, legacy=legacy: self._run(topic, legacy))  # type: ignore[misc]

    def _forward(self, message: Message) -> None:
        legacy = legacy_message(message.type, message.data, message.session, message.context)
        self._submit(lambda: self._run(message.type, legacy))

    def _deliver(self, topic: str, message: Any) -> None:
        if self._listeners.get(topic):
            self._submit(lambda: self._run(topic, message))

    def _run(self, topic: str, message: Any) -> None:
        for listener in tuple(self._listeners.get(topic, ())):
            try:
                listener(message)
            except Exception:  # a plugin may raise anything
                self._host.log.warning("its listener for %s failed", topic, exc_info=True)

    def _say(self, text: str, lang: object) -> None:
        said = self._spoken.get(get_ident())
        if said is not None:
            said.append(text)
        elif text:
            self._call(lambda: self._host.speak(text, lang=lang if isinstance(lang, str) else None))

    def _submit(self, work: Callable[[], object]) -> Future[Any]:
        if self._closed:
            done: Future[Any] = Future()
            done.set_result(None)
            return done
        return self._worker.submit(work)

    def _call(self, work: Callable[[], object]) -> None:
        if not self._closed and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(work)


def legacy_message(
    topic: str,
    data: Mapping[str, Any] | None = None,
    session: Session | None = None,
    context: Mapping[str, Any] = EMPTY,
    lang: str | None = None,
) -> Any:
    """A Message of ovos-bus-client."""
    made: Any = import_module("ovos_bus_client.message").Message
    session = Session(DEFAULT_SESSION_ID) if session is None else session
    kept = {key: thaw(value) for key, value in context.items() if key != SESSION and not key.startswith(OWN)}
    lang = lang or session.lang
    return made(
        topic,
        thaw(data) if data else {},
        {**kept, SESSION: legacy_session(session, lang), **({"lang": lang} if lang else {})},
    )


def legacy_session(session: Session, lang: str | None = None) -> dict[str, Any]:
    """The fields of a session that plugins of OVOS read."""
    fields = {
        "session_id": session.session_id,
        "lang": lang or session.lang,
        "site_id": session.site_id,
        "persona_id": session.persona_id,
        "blacklisted_skills": list(session.blacklisted_skills or ()),
        "blacklisted_intents": list(session.blacklisted_intents or ()),
    }
    return {name: value for name, value in fields.items() if value is not None}


def translated(message: Message) -> Iterator[tuple[str, dict[str, Any]]]:
    """A registration of Hark as the Messages that stand for it in OVOS."""
    data: dict[str, Any] = thaw(message.data)
    skill_id, lang = str(data.get("skill_id") or ""), data.get("lang")
    name = f"{skill_id}:{data.get('intent_name')}"
    if message.type == topics.REGISTER_TEMPLATE:
        samples = [text for text in data.get("samples") or () if isinstance(text, str) and is_plain(text)]
        if samples:
            common = {"name": name, "skill_id": skill_id, "lang": lang}
            words = [text for text in data.get("blacklist") or () if isinstance(text, str)]
            yield "padatious:register_intent", {**common, "samples": samples, "blacklisted_words": words}
    elif message.type == topics.ENTITY_REGISTER:
        entity = {"name": data.get("entity_name"), "skill_id": skill_id, "lang": lang}
        yield "padatious:register_entity", {**entity, "samples": list(data.get("samples") or ())}
    elif message.type == topics.REGISTER_KEYWORD:
        yield from _keywords(data, skill_id, name)
    elif message.type == topics.INTENT_DEREGISTER:
        yield "detach_intent", {"intent_name": name, "skill_id": skill_id}
    elif message.type == topics.SKILL_DEREGISTER:
        yield "detach_skill", {"skill_id": skill_id}


def _keywords(data: Mapping[str, Any], skill_id: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    lang, prefix = data.get("lang"), vocabulary_prefix(skill_id)
    groups = [list(group) for group in data.get("one_of") or ()]
    roles = {role: list(data.get(role) or ()) for role in ("required", "optional", "excluded")}
    for vocabulary in (*roles["required"], *(one for group in groups for one in group), *roles["optional"],
                       *roles["excluded"]):  # fmt: skip
        for sample in vocabulary.get("samples") or ():
            entity = {"entity_value": sample, "entity_type": prefix + vocabulary["name"], "lang": lang}
            yield "register_vocab", {**entity, "skill_id": skill_id}

    def pairs(role: str) -> list[tuple[str, str]]:
        return [(prefix + one["name"], one["name"]) for one in roles[role]]

    yield (
        "register_intent",
        {
            "name": name,
            "requires": pairs("required"),
            "at_least_one": [tuple(prefix + one["name"] for one in group) for group in groups],
            "optional": pairs("optional"),
            "excludes": [prefix + one["name"] for one in roles["excluded"]],
            "skill_id": skill_id,
        },
    )


def vocabulary_prefix(skill_id: str) -> str:
    """What OVOS puts before the names of a skill's vocabularies, so that two skills can use the same."""
    return re.sub(r"[\W]", "_", skill_id)


def is_plain(template: str) -> bool:
    """Whether a template has only what OVOS's expander knows: alternatives, options and slots."""
    return not any(sign in template for sign in "<>") and re.search(r"\{[^}]*[^A-Za-z0-9_}][^}]*\}", template) is None
