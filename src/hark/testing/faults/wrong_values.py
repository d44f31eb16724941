"""Faults that return what they may not: every wrong shape at every extension point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NoReturn

from hark.model import Audio, Match, Session
from hark.model.frozen import Sealed
from hark.plugins import Answer, Declined
from hark.testing.faults.plugin import ASKED, CALLED, Behaviour, CallSite, Mode, Point, Shows


class HostileText(str):
    """Text of a subclass, whose methods raise."""

    __slots__ = ()

    def __eq__(self, _other: object) -> bool:
        raise RuntimeError("not to be compared")

    __hash__ = str.__hash__

    def encode(self, *_args: Any) -> NoReturn:
        """Raises."""
        raise RuntimeError("not to be encoded")


class HostileList(list[str]):
    """A list that raises when it is iterated."""

    def __iter__(self) -> Iterator[str]:
        raise SystemExit("not to be iterated")


class Impostor:
    """Claims to be of another class."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self._kind

    def __eq__(self, _other: object) -> bool:
        raise RuntimeError("not to be compared")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise RuntimeError("not to be shown")


class HiddenClass:
    """Raises SystemExit when asked for its class."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise SystemExit("not to be asked")


class UncheckedMatch(Match, frozen=True):
    """A Match that reports no defect, whatever it holds."""

    def defect(self) -> None:
        """Reports none."""
        return

    @property
    def topic(self) -> str:
        """Raises."""
        raise SystemExit("not to be dispatched")


class HidingSlots(Sealed):
    """Slots that do not show what they hold."""

    __slots__ = ()

    def items(self) -> Any:
        """Shows nothing at all."""
        return {}.items()


class HostileSession(Session):
    """A session of a subclass, whose methods raise."""

    __slots__ = ()

    @property
    def session_id(self) -> str:
        """Raises."""
        raise SystemExit("not to be asked")

    def get(self, _name: str, _default: Any = None) -> NoReturn:
        """Raises."""
        raise RuntimeError("not to be read")


def hostile_session(session: Session) -> Session:
    """The same session as a `HostileSession`."""
    made: Any = object.__new__(HostileSession)
    for slot in ("_fields", "_exact"):
        object.__setattr__(made, slot, getattr(session, slot))
    found: Session = made
    return found


def generator() -> Iterator[str]:
    """A generator that was never begun."""
    yield "never"


async def coroutine() -> str:
    """A coroutine; its maker has to run or close it."""
    return "never"


Make = Callable[[CallSite], Any]

_MODES: Final[tuple[Mode, ...]] = ("inline", "worker", "stream")
"""What comes of an async def is judged as what is returned on the spot."""

_ANYTHING: Final[Mapping[str, Make]] = {
    "none": lambda _site: None,
    "a_number": lambda _site: 7,
    "a_truth": lambda _site: True,
    "a_text": lambda _site: "text",
    "bytes": lambda _site: b"bytes",
    "a_dict": lambda _site: {"a": "b"},
    "a_set": lambda _site: {"a"},
    "a_list_of_numbers": lambda _site: [1, 2, 3],
    "a_list_of_lists": lambda _site: [["a"]],
    "a_class": lambda _site: str,
    "an_exception": lambda _site: ValueError("returned, not raised"),
    "not_implemented": lambda _site: NotImplemented,
    "a_generator": lambda _site: generator(),
    "itself": lambda site: site.plugin,
    "its_context": lambda site: site.ctx or site.turn or site.round,
    "a_pretended_list": lambda _site: Impostor(list),
    "a_pretended_text": lambda _site: Impostor(str),
    "a_pretended_match": lambda _site: Impostor(Match),
    "a_pretended_audio": lambda _site: Impostor(Audio),
    "something_that_raises_when_asked": lambda _site: HiddenClass(),
}
"""What can be returned anywhere. Where one of these is what belongs there, `_RIGHT` says so."""

_RIGHT: Final[Mapping[Point, frozenset[str]]] = {
    "metadata": frozenset({"none"}),
    "dialog": frozenset({"a_text"}),
    "matcher": frozenset({"none"}),
    **dict.fromkeys(("handler", *CALLED), frozenset({"none", "a_text"})),
    **dict.fromkeys(ASKED, frozenset({"a_truth"})),
    "answers": frozenset({"none", "a_text", "its_context"}),  # it has none
}

_TEXTS: Final[Mapping[str, Make]] = {
    "a_list_of_text_subclasses": lambda _site: [HostileText("hello")],
    "a_list_with_half_a_character": lambda _site: ["hello \ud83d"],
    "a_list_that_raises": lambda _site: HostileList(["hello"]),
    "a_list_with_none": lambda _site: ["hello", None],
}
_TEXT: Final[Mapping[str, Make]] = {
    "a_text_subclass": lambda _site: HostileText("hello"),
    "half_a_character": lambda _site: "hello \ud83d",
}
_AUDIO: Final[Mapping[str, Make]] = {
    "audio_of_text": lambda _site: Audio("text", 16_000),  # type: ignore[arg-type]
    "audio_of_half_a_frame": lambda _site: Audio(b"\0\0\0", 16_000),
    "audio_without_a_rate": lambda _site: Audio(b"\0\0", 0),
    "audio_with_a_rate_in_words": lambda _site: Audio(b"\0\0", "16 kHz"),  # type: ignore[arg-type]
    "audio_of_no_channels": lambda _site: Audio(b"\0\0", 16_000, channels=-1),
}

_ANSWERS: Final[Mapping[str, tuple[Any, Any]]] = {
    "an_answer_of_a_number": (7, 0.5),
    "an_answer_of_a_text_subclass": (HostileText("text"), 0.5),
    "an_answer_sure_in_words": ("text", "very"),
    "an_answer_more_than_sure": ("text", 7.0),
    "an_answer_sure_by_no_measure": ("text", float("nan")),
}
_DEFECTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "without_a_skill": {"skill_id": None},
    "without_an_intent": {"intent_name": None},
    "of_an_empty_skill": {"skill_id": ""},
    "of_an_empty_intent": {"intent_name": ""},
    "with_a_colon": {"intent_name": "a:b"},
    "with_spaces": {"intent_name": "not a topic"},
    "of_a_text_subclass": {"skill_id": HostileText("faults")},
    "without_a_language": {"lang": None},
    "in_no_language": {"lang": "not a tag"},
    "without_an_utterance": {"utterance": None},
    "with_an_empty_utterance": {"utterance": ""},
    "with_half_a_character": {"utterance": "hello \ud83d"},
    "with_slots_in_a_list": {"slots": ["a", "b"]},
    "with_slots_of_numbers": {"slots": {"a": 1}},
    "with_slots_by_number": {"slots": {1: "a"}},
    "with_slots_of_half_a_character": {"slots": {"a": "\ud83d"}},
    "with_slots_of_text_subclasses": {"slots": {"a": HostileText("b")}},
    "with_slots_that_pretend": {"slots": Impostor(dict)},
    "with_slots_that_hide": {"slots": HidingSlots({"a": object()})},
    "with_a_session_in_a_dict": {"updated_session": {"session_id": "default"}},
}
"""What makes a Match no claim, field by field."""


def _returns(point: Point, name: str, make: Make, shows: Shows = "malformed", diverts: bool = False) -> Behaviour:
    words = name.replace("_", " ")
    return Behaviour(f"returns_{name}", f"Returns {words}.", make, (point,), _MODES, shows, diverts)


def _defective(point: Point, name: str, changes: Mapping[str, Any]) -> Behaviour:
    def make(site: CallSite) -> Match:
        sound = site.artifact if point == "intent" else Match("control", "answer", site.lang, site.artifact[0])
        return sound.replace(**changes)

    does = f"Returns a Match {name.replace('_', ' ')}."
    return Behaviour(f"returns_a_match_{name}", does, make, (point,), _MODES, "malformed")


def _intent_shapes() -> Iterator[Behaviour]:
    def lying(site: CallSite) -> Match:
        found: Match = site.artifact
        return UncheckedMatch(found.skill_id, found.intent_name, found.lang, "", {})

    yield _returns("intent", "a_match_that_swears_it_is_sound", lying)
    yield _returns("intent", "a_match_for_another_skill", lambda site: site.artifact.replace(skill_id="another.skill"))
    yield _returns("intent", "a_match_for_another_intent", lambda site: site.artifact.replace(intent_name="another"))
    yield _returns("intent", "a_match_with_a_session", lambda site: site.artifact.replace(updated_session=site.session))


def _matcher_shapes() -> Iterator[Behaviour]:
    def claim(site: CallSite, **changes: Any) -> Match:
        return Match("control", "answer", site.lang, site.artifact[0]).replace(**changes)

    yield _returns("matcher", "a_match_that_swears_it_is_sound", lambda site: UncheckedMatch("", "", site.lang, ""))
    yield _returns("matcher", "a_match_with_a_diary", lambda site: claim(site, updated_session=_diary(site)))
    yield _returns("matcher", "a_refusal_without_words", lambda _site: Declined(7), "nothing")  # type: ignore[arg-type]
    yield _returns("matcher", "a_refusal_in_half_a_character", lambda _site: Declined("\ud83d"), "nothing")
    yield _returns("matcher", "a_refusal_in_a_novel", lambda _site: Declined("no " * 300_000), "nothing")


def _diary(site: CallSite) -> Any:
    return None if site.session is None else hostile_session(site.session)


async def _returns_a_coroutine(_site: CallSite) -> str:
    return await coroutine()


def _answered(answer: tuple[Any, Any], _site: CallSite) -> Answer:
    return Answer(*answer)


def _every_shape() -> Iterator[Behaviour]:
    chains: tuple[Point, ...] = ("audio", "utterance", "metadata", "intent", "dialog", "tts")
    for point in (*chains, "matcher", "handler", *ASKED, *CALLED):
        for name, make in _ANYTHING.items():
            if name not in _RIGHT.get(point, ()):
                yield _returns(point, name, make)
        # Only a plain method can return one: in an async def it would be awaited.
        yield Behaviour("returns_a_coroutine", "Returns a coroutine from a plain def.", _returns_a_coroutine, (point,),
                        ("inline", "worker"))  # fmt: skip
    for name, make in _TEXTS.items():
        yield _returns("utterance", name, make)
    for name, make in _TEXT.items():
        yield _returns("dialog", name, make)
    yield _returns("handler", "half_a_character", _TEXT["half_a_character"])
    for audio_point in ("audio", "tts"):
        for name, make in _AUDIO.items():
            yield _returns(audio_point, name, make)
    for match_point in ("intent", "matcher"):
        for name, changes in _DEFECTS.items():
            yield _defective(match_point, name, changes)
    yield from _intent_shapes()
    yield from _matcher_shapes()
    for name, answer in _ANSWERS.items():
        yield _returns("answers", name, partial(_answered, answer))
    yield _returns("utterance", "nothing_at_all", lambda _site: [], "nothing", diverts=True)
    yield _returns("utterance", "a_huge_list", lambda _site: ["word"] * 100_000, "nothing", diverts=True)
    yield _returns("dialog", "a_huge_text", lambda _site: "word " * 200_000, "nothing", diverts=True)
    yield _returns("handler", "a_huge_text", lambda _site: "word " * 200_000, "nothing")


BEHAVIOURS: Final = tuple(_every_shape())
