"""Pipeline plugins, which claim utterances."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, Protocol

import msgspec

from hark.model import Frozen, Match, Message, Session
from hark.model.frozen import EMPTY
from hark.model.lang import canonical, is_tag
from hark.plugins.handlers import handlers_of
from hark.plugins.plugin import Plugin
from hark.spec import topics

ANY_LANGUAGE: Final = "und"
"""The tag of an intent that works in every language."""


class Declined(msgspec.Struct, frozen=True):
    """A refusal with a reason, for `hark why`: `Declined("no template within distance 3")`."""

    reason: str


class Later(msgspec.Struct, frozen=True):
    """From a `quick` matcher: decide asynchronously. `Later(lambda: self.look(...))`.

    So a matcher that polls costs nothing for utterances it can decline at once.
    """

    look: Callable[[], Awaitable[Match | Declined | None]]


class PollFn(Protocol):
    """Asks candidates a question over the bus; see `Round.poll`."""

    async def __call__(
        self,
        topic: str,
        data: Mapping[str, Any],
        candidates: Sequence[str] | None,
        window: float,
        *,
        answer_topic: str | None = None,
        rank: Callable[[Message], float] | None = None,
        enough: Callable[[Mapping[str, Message]], bool] | None = None,
        look_after: float | None = None,
        each: bool = False,
    ) -> list[Message]:
        """The answers, best first."""


class PreviewFn(Protocol):
    """Asks what a text would match; see `Round.would_match`."""

    def __call__(self, text: str, *, strict: bool = False) -> Match | None:
        """The claim, or None."""


def _no_preview(text: str, *, strict: bool = False) -> Match | None:  # noqa: ARG001 - of a round without a pipeline
    return None


class Round(msgspec.Struct, frozen=True):
    """The match round, for matchers that poll or are configured per pipeline entry."""

    entry: str
    """The pipeline entry that led here; several may lead to one plugin."""
    config: Frozen
    """The configuration of this entry in the settings."""
    message: Message
    """The entry Message as the chains left it."""
    poll: PollFn
    """`await round.poll(topic, data, candidates, window)`: the answers within `window` seconds.

    They come in the order of `candidates` or, with `rank`, highest first; if `candidates` is None, any plugin may
    answer. It ends early when all have answered, or when `enough` returns true, called after each answer and after
    `look_after` seconds. `each` sends every candidate a Message that names it. A `.ping` is answered by a `.pong`,
    anything else by `.response`, unless `answer_topic` is given.
    """
    denied: Mapping[str, Sequence[str]] = EMPTY
    """What the settings deny to this session beyond its own denylists, by session field."""
    would_match: PreviewFn = _no_preview
    """`round.would_match(text)`: the claim that the plugins which can `preview` would make for another text, or None.

    Nothing is sent and nothing changes. `strict` counts sentences only that fit as they are written.
    """


class PipelinePlugin(Plugin):
    """Claims utterances. `match` may be `def` or `async def`, and may name a fourth parameter, `round: Round`.

    Its own intents are methods under `@handles`.
    """

    preview: ClassVar[bool] = False
    """Promises that `match` is quick, has no effect, and depends on texts, language, session and settings alone: other
    plugins may then ask, by `round.would_match`, what it makes of a text that was not said."""

    @abstractmethod
    def match(
        self, utterances: Sequence[str], lang: str, session: Session
    ) -> Match | Declined | Later | Awaitable[Match | Declined | None] | None:
        """A claim, or None (or `Declined`) to let the next plugin try. The first claim wins."""

    def claim(self, intent_name: str, *, lang: str, utterance: str, slots: Mapping[str, str] | None = None) -> Match:
        """A claim for one of this plugin's own `@handles` methods."""
        return Match(self.id, intent_name, lang, utterance, Frozen(slots or {}))

    def known_intents(self, session_id: str) -> Iterable[Mapping[str, str]]:  # noqa: ARG002 - for overrides
        """The intents it can claim in a session, each with at least `skill_id`, `intent_name` and `lang`.

        By default its own `@handles` methods, in any language (`und`).
        """
        return [{"skill_id": self.id, "intent_name": name, "lang": ANY_LANGUAGE} for name in handlers_of(self)]

    def prepare(self) -> bool:
        """Do a few milliseconds of work that was put off during the start; whether there is more to do.

        Called on the event loop once the assistant is ready, until it returns false; utterances wait until then.
        """
        return False

    async def begin(self) -> None:
        """As `Plugin.begin`; from then on it answers queries for its intents (PIPELINE-1 §10)."""
        await super().begin()
        self.host.on(topics.pipeline_intents_list(self.id), self._list, shared=True)

    def _list(self, query: Message) -> None:
        skill_id, lang = query.data.get("skill_id"), query.data.get("lang")
        intents = [
            dict(intent)
            for intent in self.known_intents(query.session_id)
            if skill_id in (None, intent["skill_id"]) and (lang is None or _speaks(lang, intent["lang"]))
        ]
        self.host.send(query.response({"pipeline_id": self.id, "intents": intents}))


def _speaks(wanted: object, lang: str) -> bool:
    return lang == ANY_LANGUAGE or (is_tag(wanted) and canonical(str(wanted)) == lang)
