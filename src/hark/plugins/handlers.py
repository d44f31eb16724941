"""The methods by which a plugin answers: intents, converse, stop, fallback, common query."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec

from hark.model import Session
from hark.plugins.plugin import Plugin
from hark.plugins.turn import Turn

F = TypeVar("F", bound=Callable[..., Any])

When = Callable[[Any, Sequence[str], str, Session], bool | Awaitable[bool]]
"""Whether a fallback wants an utterance: a method or function of plugin, utterances, language and session."""
Wants = Callable[[Any, str, str, Session], bool | Awaitable[bool]]
"""Whether a skill could answer a question: decided quickly, without looking anything up."""

_HANDLES: Final = "__hark_handles__"
_DANGEROUS: Final = "__hark_dangerous__"
_FALLBACK: Final = "__hark_fallback__"
_ANSWERS: Final = "__hark_answers__"


def handles(intent_name: str, *, dangerous: bool = False) -> Callable[[F], F]:
    """Make a method the handler of `<plugin id>:<intent_name>`.

    It takes a `Turn` and may be `def`, `async def` or an async generator; text it returns or yields is spoken. One that
    is `dangerous` does not run in a turn that a model brought about, unless the user agreed to this very call.
    """

    def mark(method: F) -> F:
        setattr(method, _HANDLES, intent_name)
        setattr(method, _DANGEROUS, dangerous)
        return method

    return mark


class Answer(msgspec.Struct, frozen=True):
    """The answer of a skill to a question; a confidence of 0.5 is a reasonable answer, 0.9 a definitive one."""

    text: str
    confidence: float = 0.5
    source: str = ""
    """What it is from, as the assistant says it: "Wikipedia"; the name of the skill, if empty."""


class FallbackMethod(msgspec.Struct, frozen=True):
    """A `@fallback` method."""

    method: str
    priority: int
    when: When | None


class AnswerMethod(msgspec.Struct, frozen=True):
    """An `@answers` method."""

    method: str
    wants: Wants | None


def fallback(priority: int, *, when: When | None = None) -> Callable[[F], F]:
    """Make a method handle utterances no matcher claimed; the lowest `priority` is asked first, by convention 0 to 100.

    `when(self, utterances, lang, session)` decides whether it wants this one; it must be quick and change nothing.
    Without it the method takes every utterance.
    """
    if type(priority) is not int:
        raise TypeError(f"the priority of a fallback is a whole number, not {priority!r}")

    def mark(method: F) -> F:
        setattr(method, _FALLBACK, FallbackMethod(method.__name__, priority, when))
        return method

    return mark


def answers(*, wants: Wants | None = None) -> Callable[[F], F]:
    """Make a method answer questions: `def know(self, question, lang, session) -> Answer | None`, plain or async.

    `wants(self, question, lang, session)` decides quickly, without looking anything up, whether it is worth asking.
    """

    def mark(method: F) -> F:
        setattr(method, _ANSWERS, AnswerMethod(method.__name__, wants))
        return method

    return mark


class ConversationPlugin(Plugin):
    """What a skill may do beside handling its intents; by default, nothing."""

    def can_converse(self, utterances: Sequence[str], lang: str, session: Session) -> bool | Awaitable[bool]:  # noqa: ARG002
        """Whether the skill, which was called recently, wants this utterance. May be `async`.

        It must decide without saying or changing anything, and it must be quick; `converse` does the work.
        """
        return False

    def converse(self, turn: Turn) -> Any:
        """Handle an utterance that `can_converse` accepted; a handler like any other."""

    def can_stop(self, session: Session) -> bool | Awaitable[bool]:  # noqa: ARG002
        """Whether there is something to stop in this session besides handlers, open questions and `turn.task`s.

        Hark stops those itself.
        """
        return False

    def stopped(self, turn: Turn) -> Any:
        """Called when the user stopped the skill in this session; its handlers and tasks are cancelled already."""


def handlers_of(plugin: object) -> dict[str, Callable[..., Any]]:
    """The handlers a plugin declares, by intent name."""
    found: dict[str, Callable[..., Any]] = {}
    for owner in reversed(type(plugin).__mro__):
        for name, member in vars(owner).items():
            intent_name = getattr(member, _HANDLES, None)
            if intent_name is not None:
                found[intent_name] = getattr(plugin, name)
    return found


def is_dangerous(handler: Callable[..., Any]) -> bool:
    """Whether a handler needs the consent of the user where a model wants it called."""
    return getattr(handler, _DANGEROUS, False) is True


def converses(plugin: object) -> bool:
    """Whether a plugin has a `can_converse` of its own."""
    return isinstance(plugin, ConversationPlugin) and type(plugin).can_converse is not ConversationPlugin.can_converse


def fallbacks_of(plugin: object) -> tuple[FallbackMethod, ...]:
    """The `@fallback` methods of a plugin, first to be asked first."""
    found = _marked(plugin, _FALLBACK)
    return tuple(sorted(found, key=lambda one: (one.priority, one.method)))


def answer_methods_of(plugin: object) -> tuple[AnswerMethod, ...]:
    """The `@answers` methods of a plugin."""
    return tuple(_marked(plugin, _ANSWERS))


def capabilities_of(plugin: object) -> tuple[str, ...]:
    """What a plugin does beside its intents, as `ovos.skill.loaded` names it."""
    has = {
        "converse": converses(plugin),
        "stop": isinstance(plugin, ConversationPlugin),
        "fallback": bool(fallbacks_of(plugin)),
        "common_query": bool(answer_methods_of(plugin)),
    }
    return tuple(name for name, present in has.items() if present)


def _marked(plugin: object, mark: str) -> list[Any]:
    members = {name: member for owner in reversed(type(plugin).__mro__) for name, member in vars(owner).items()}
    found = {name: getattr(member, mark, None) for name, member in members.items()}
    # By the name in the class: a wrapped function may have another name of its own.
    return [msgspec.structs.replace(one, method=name) for name, one in found.items() if one is not None]
