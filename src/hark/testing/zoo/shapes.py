"""Animals that return what they may not: every wrong shape of every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from hark.model import Audio, Match
from hark.plugins import Answer, Declined
from hark.testing.zoo.animal import ASKED, CALLED, Behaviour, Grip, Mode, Point, Shows
from hark.testing.zoo.things import Claim, Pretender, Slots, Text, Texts, Unasked, coroutine, diary_of, generator

Make = Callable[[Grip], Any]

_MODES: Final[tuple[Mode, ...]] = ("inline", "worker", "stream")
"""What comes of an async def is judged as what is returned on the spot."""

_ANYTHING: Final[Mapping[str, Make]] = {
    "none": lambda _grip: None,
    "a_number": lambda _grip: 7,
    "a_truth": lambda _grip: True,
    "a_text": lambda _grip: "text",
    "bytes": lambda _grip: b"bytes",
    "a_dict": lambda _grip: {"a": "b"},
    "a_set": lambda _grip: {"a"},
    "a_list_of_numbers": lambda _grip: [1, 2, 3],
    "a_list_of_lists": lambda _grip: [["a"]],
    "a_class": lambda _grip: str,
    "an_exception": lambda _grip: ValueError("returned, not raised"),
    "not_implemented": lambda _grip: NotImplemented,
    "a_generator": lambda _grip: generator(),
    "itself": lambda grip: grip.plugin,
    "its_context": lambda grip: grip.ctx or grip.turn or grip.round,
    "a_pretended_list": lambda _grip: Pretender(list),
    "a_pretended_text": lambda _grip: Pretender(str),
    "a_pretended_match": lambda _grip: Pretender(Match),
    "a_pretended_audio": lambda _grip: Pretender(Audio),
    "something_that_raises_when_asked": lambda _grip: Unasked(),
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
    "a_list_of_text_subclasses": lambda _grip: [Text("hello")],
    "a_list_with_half_a_character": lambda _grip: ["hello \ud83d"],
    "a_list_that_bites": lambda _grip: Texts(["hello"]),
    "a_list_with_none": lambda _grip: ["hello", None],
}
_TEXT: Final[Mapping[str, Make]] = {
    "a_text_subclass": lambda _grip: Text("hello"),
    "half_a_character": lambda _grip: "hello \ud83d",
}
_AUDIO: Final[Mapping[str, Make]] = {
    "audio_of_text": lambda _grip: Audio("text", 16_000),  # type: ignore[arg-type]
    "audio_of_half_a_frame": lambda _grip: Audio(b"\0\0\0", 16_000),
    "audio_without_a_rate": lambda _grip: Audio(b"\0\0", 0),
    "audio_with_a_rate_in_words": lambda _grip: Audio(b"\0\0", "16 kHz"),  # type: ignore[arg-type]
    "audio_of_no_channels": lambda _grip: Audio(b"\0\0", 16_000, channels=-1),
}

_ANSWERS: Final[Mapping[str, tuple[Any, Any]]] = {
    "an_answer_of_a_number": (7, 0.5),
    "an_answer_of_a_text_subclass": (Text("text"), 0.5),
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
    "of_a_text_subclass": {"skill_id": Text("zoo")},
    "without_a_language": {"lang": None},
    "in_no_language": {"lang": "not a tag"},
    "without_an_utterance": {"utterance": None},
    "with_an_empty_utterance": {"utterance": ""},
    "with_half_a_character": {"utterance": "hello \ud83d"},
    "with_slots_in_a_list": {"slots": ["a", "b"]},
    "with_slots_of_numbers": {"slots": {"a": 1}},
    "with_slots_by_number": {"slots": {1: "a"}},
    "with_slots_of_half_a_character": {"slots": {"a": "\ud83d"}},
    "with_slots_of_text_subclasses": {"slots": {"a": Text("b")}},
    "with_slots_that_pretend": {"slots": Pretender(dict)},
    "with_slots_that_hide": {"slots": Slots({"a": object()})},
    "with_a_session_in_a_dict": {"updated_session": {"session_id": "default"}},
}
"""What makes a Match no claim, field by field."""


def _returns(point: Point, name: str, make: Make, shows: Shows = "malformed", diverts: bool = False) -> Behaviour:
    words = name.replace("_", " ")
    return Behaviour(f"returns_{name}", f"Returns {words}.", make, (point,), _MODES, shows, diverts)


def _defective(point: Point, name: str, changes: Mapping[str, Any]) -> Behaviour:
    def make(grip: Grip) -> Match:
        sound = grip.artifact if point == "intent" else Match("tame", "answer", grip.lang, grip.artifact[0])
        return sound.replace(**changes)

    does = f"Returns a Match {name.replace('_', ' ')}."
    return Behaviour(f"returns_a_match_{name}", does, make, (point,), _MODES, "malformed")


def _intent_shapes() -> Iterator[Behaviour]:
    def lying(grip: Grip) -> Match:
        found: Match = grip.artifact
        return Claim(found.skill_id, found.intent_name, found.lang, "", {})

    yield _returns("intent", "a_match_that_swears_it_is_sound", lying)
    yield _returns("intent", "a_match_for_another_skill", lambda grip: grip.artifact.replace(skill_id="somebody.else"))
    yield _returns("intent", "a_match_for_another_intent", lambda grip: grip.artifact.replace(intent_name="another"))
    yield _returns("intent", "a_match_with_a_session", lambda grip: grip.artifact.replace(updated_session=grip.session))


def _matcher_shapes() -> Iterator[Behaviour]:
    def claim(grip: Grip, **changes: Any) -> Match:
        return Match("tame", "answer", grip.lang, grip.artifact[0]).replace(**changes)

    yield _returns("matcher", "a_match_that_swears_it_is_sound", lambda grip: Claim("", "", grip.lang, ""))
    yield _returns("matcher", "a_match_with_a_diary", lambda grip: claim(grip, updated_session=_diary(grip)))
    yield _returns("matcher", "a_refusal_without_words", lambda _grip: Declined(7), "tame")  # type: ignore[arg-type]
    yield _returns("matcher", "a_refusal_in_half_a_character", lambda _grip: Declined("\ud83d"), "tame")
    yield _returns("matcher", "a_refusal_in_a_novel", lambda _grip: Declined("no " * 300_000), "tame")


def _diary(grip: Grip) -> Any:
    return None if grip.session is None else diary_of(grip.session)


async def _returns_a_coroutine(_grip: Grip) -> str:
    return await coroutine()


def _answered(answer: tuple[Any, Any], _grip: Grip) -> Answer:
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
    yield _returns("utterance", "nothing_at_all", lambda _grip: [], "tame", diverts=True)
    yield _returns("utterance", "a_huge_list", lambda _grip: ["word"] * 100_000, "tame", diverts=True)
    yield _returns("dialog", "a_huge_text", lambda _grip: "word " * 200_000, "tame", diverts=True)
    yield _returns("handler", "a_huge_text", lambda _grip: "word " * 200_000, "tame")


BEHAVIOURS: Final = tuple(_every_shape())
