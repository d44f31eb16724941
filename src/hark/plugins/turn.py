"""What a handler holds: the slots it was called with; speaking, asking and remembering."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from hark.model import Clock, ContextEntry, Message, Session
from hark.model.frozen import Frozen
from hark.model.intent_context import private_key
from hark.plugins.home import Home
from hark.plugins.plugin import Plugin
from hark.spec import topics
from hark.spec.topics import split_dispatch

if TYPE_CHECKING:
    from hark.intents.locale import Rendered
    from hark.plugins.values import Value

Check = Callable[[str], bool]
"""Whether an answer is acceptable."""


class Turn:
    """One call of a handler: slots in; `speak`, `ask` and `remember` out. What it emits belongs to the turn.

    Every question may stay unanswered: then the result is None.
    """

    def __init__(self, message: Message, stage: TurnHost, plugin: Plugin | None = None) -> None:
        self.message = message
        """The dispatch."""
        self.skill_id, self.intent_name = split_dispatch(message.type)
        self.is_withdrawn = False
        """Whether the last question was withdrawn: by the user, with "never mind" or a command instead of an answer, or
        by a transformer that kept it from being asked."""
        self._session = message.session or Session()
        self._stage = stage
        self._plugin = plugin

    @property
    def slots(self) -> Mapping[str, str]:
        """The slots the utterance filled; one that was not filled is absent."""
        slots: Mapping[str, str] = self.message.data["slots"]
        return slots

    def value(self, slot: str) -> Value | None:
        """The typed value of a slot: a number, a date, a duration; None when it has none. See docs/values.md."""
        from hark.plugins.values import typed_value  # most handlers use the text of a slot

        return typed_value(self.slots, slot)

    @property
    def lang(self) -> str:
        """The language the utterance was matched in."""
        lang: str = self.message.data["lang"]
        return lang

    @property
    def utterance(self) -> str:
        """What the user said, as it was matched."""
        utterance: str = self.message.data["utterance"]
        return utterance

    @property
    def session(self) -> Session:
        """The conversation. Assign `turn.session.replace(...)` to change it; the change outlives the turn."""
        return self._session

    @session.setter
    def session(self, session: Session) -> None:
        if not isinstance(session, Session):
            raise TypeError(f"turn.session takes a Session, not {type(session).__name__}")
        if session.session_id != self._session.session_id:
            raise ValueError("a handler cannot move its turn to another session")
        self._session = session

    @property
    def home(self) -> Home:
        """Where this turn takes place, and the units and the clock to answer in; see `Home`."""
        host = None if self._plugin is None else getattr(self._plugin, "host", None)
        home: Home = getattr(host, "home", None) or Home()
        return home.for_session(self._session, self.lang)

    async def speak(self, text: str, *, lang: str | None = None, listen: bool = False, wait: bool = False) -> None:
        """Say `text`. `listen` opens the microphone afterwards; `wait` returns only when it was rendered."""
        if not isinstance(text, str):
            raise TypeError(f"speak takes text, not {type(text).__name__}")
        data: dict[str, object] = {"utterance": text, "lang": lang or self.lang}
        if listen:
            data["listen"] = True
        await self._stage.say(self.derive(topics.UTTERANCE_SPEAK, data), wait)

    def say(
        self,
        name: str,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        listen: bool = False,
        wait: bool = False,
        **more: Any,
    ) -> Awaitable[None]:
        """Say a phrase of the dialog `name` in the turn's language, its slots filled from `values` and `more`.

        It is said at once, whether or not the result is awaited, so a plain `def` can say it too. With `wait` it has to
        be awaited, and returns when the phrase was rendered.
        """
        rendered = self._rendered(name, {**(values or {}), **more})
        data: dict[str, object] = {"utterance": rendered.text, "lang": rendered.lang}
        if listen:
            data["listen"] = True
        message = self.derive(topics.UTTERANCE_SPEAK, data)
        if wait:
            return self._stage.say(message, True)
        self._stage.emit(message)
        return _Done()

    def render(self, name: str, values: Mapping[str, Any] | None = None, /, **more: Any) -> str:
        """The text `say` would say."""
        return self._rendered(name, {**(values or {}), **more}).text

    async def listen(self, question: str, *, timeout: float = 30.0, lang: str | None = None) -> str | None:
        """Say `question` and wait for the user's next utterance; None when there is none within `timeout` seconds.

        Only this session waits; the assistant goes on serving others.
        """
        return await self._stage.listen(self, question, timeout, lang)

    async def ask(
        self,
        question: str,
        *,
        timeout: float = 30.0,
        retries: int = 0,
        again: str | None = None,
        check: Check | None = None,
        lang: str | None = None,
    ) -> str | None:
        """The user's answer to `question`, or None when there was none within `timeout` seconds.

        After silence, or an answer that `check` does not accept, the question is asked again (or `again`), at most
        `retries` times; not if the user withdrew it.
        """
        for attempt in range(retries + 1):
            answer = await self.listen((again or question) if attempt else question, timeout=timeout, lang=lang)
            if answer is not None and (check is None or check(answer)):
                return answer
            if self.is_withdrawn:
                break
        return None

    async def ask_yes_no(
        self, question: str, *, timeout: float = 30.0, retries: int = 1, again: str | None = None
    ) -> bool | None:
        """Whether the user said yes or no; None when it was neither."""
        from hark.intents.answers import yes_or_no  # most plugins never ask

        def is_answer(text: str) -> bool:
            return yes_or_no(text, self.lang) is not None

        answer = await self.ask(question, timeout=timeout, retries=retries, again=again, check=is_answer)
        return None if answer is None else yes_or_no(answer, self.lang)

    async def ask_choice(
        self,
        options: Sequence[str],
        question: str,
        *,
        timeout: float = 30.0,
        retries: int = 1,
        again: str | None = None,
    ) -> str | None:
        """Which of `options` the user chose: by its number, by its name, or by a similar name."""
        from hark.intents.answers import choose

        def is_option(text: str) -> bool:
            return choose(text, options, self.lang) is not None

        answer = await self.ask(question, timeout=timeout, retries=retries, again=again, check=is_option)
        chosen = None if answer is None else choose(answer, options, self.lang)
        return None if chosen is None else options[chosen]

    def task(self, work: Coroutine[Any, Any, None], name: str = "") -> None:
        """Run `work` in this session, also after the handler has returned; a stop or a shutdown cancels it."""
        self._stage.task(self, work, name)

    def emit(self, topic: str, data: Mapping[str, object] | None = None) -> None:
        """Emit a Message of this turn."""
        self._stage.emit(self.derive(topic, data or {}))

    def note(self, text: str) -> None:
        """Add a line to the trace of this turn, which `hark why` shows: what was asked where, and what came of it."""
        self._stage.note(self, text)

    def remember(
        self,
        key: str,
        value: str | None = None,
        *,
        turns: int | None = None,
        seconds: float | None = None,
        shared: bool = False,
    ) -> None:
        """Keep `value` (None: just a flag) for `turns` utterances or `seconds`, for this skill unless `shared`."""
        if not key or ":" in key:
            raise ValueError(f"a context key is a word without colon, not {key!r}")
        entry = ContextEntry(value, None if seconds is None else self._stage.clock.wall() + seconds, turns)
        entries = {**self._session.intent_context, self._stored_key(key, shared): entry}
        self._session = self._session.replace(intent_context=entries)

    def forget(self, key: str, *, shared: bool = False) -> None:
        """Remove what was remembered under `key`."""
        stored = self._stored_key(key, shared)
        entries = {name: entry for name, entry in self._session.intent_context.items() if name != stored}
        self._session = self._session.trusted(intent_context=Frozen(entries))

    def derive(self, topic: str, data: Mapping[str, object]) -> Message:
        """A Message of this turn, carrying the session as it is now."""
        derived = self.message.forward(topic, data)
        return derived if self._session is self.message.session else derived.carrying(self._session)

    def _rendered(self, name: str, values: Mapping[str, Any]) -> Rendered:
        dialogs = None if self._plugin is None else self._plugin.dialogs
        if dialogs is None:
            raise LookupError(
                f"{self.skill_id} has no dialogs; put {name}.dialog into a locale folder beside its module"
            )
        return dialogs.render(name, self.lang, values)

    def _stored_key(self, key: str, shared: bool) -> str:
        return key if shared else private_key(self.skill_id, key)


class TurnHost(Protocol):
    """The host of a turn's handler: what a `Turn` does, it does through this."""

    @property
    def clock(self) -> Clock:
        """The clock of the assistant."""

    def emit(self, message: Message) -> None:
        """Put a Message of the handler on the bus."""

    async def say(self, message: Message, wait: bool) -> None:
        """Put a speak Message on the bus; with `wait`, return when it was rendered."""

    async def listen(self, turn: Turn, question: str, timeout: float, lang: str | None) -> str | None:
        """Ask, and wait for the answer."""

    def note(self, turn: Turn, text: str) -> None:
        """Add a line to the trace of the turn."""

    def task(self, turn: Turn, work: Coroutine[Any, Any, None], name: str) -> None:
        """Run something for the turn's skill in its session, beside the handler."""


class _Done:
    """An awaitable that is done already."""

    def __await__(self) -> Generator[Any, None, None]:
        return
        yield
