"""Questions a handler asks: how often, until when, and what counts as an answer."""

from __future__ import annotations

from typing import Any

import pytest

from hark.model import Message
from hark.plugins import Turn


class Asker(Turn):
    """A turn whose user says these things, one after the other; None is silence."""

    def __init__(self, *says: str | None, lang: str = "en-US") -> None:
        super().__init__(Message("some.skill:ask", {"lang": lang, "slots": {}}), None)  # type: ignore[arg-type]
        self.says = list(says)
        self.asked: list[str] = []
        self.how: list[dict[str, Any]] = []

    async def listen(self, question: str, **how: Any) -> str | None:
        self.asked.append(question)
        self.how.append(how)
        return self.says.pop(0)


async def test_what_is_said_is_the_answer() -> None:
    asker = Asker("Ann")
    assert await asker.ask("who?") == "Ann"
    assert asker.asked == ["who?"]
    assert asker.how == [{"timeout": 30.0, "lang": None}]


async def test_time_and_language_are_the_askers() -> None:
    asker = Asker("Ann")
    await asker.ask("wer?", timeout=5.0, lang="de-DE")
    assert asker.how == [{"timeout": 5.0, "lang": "de-DE"}]


async def test_silence_is_no_answer_and_is_asked_again_only_if_wanted() -> None:
    assert await Asker(None).ask("who?") is None
    asker = Asker(None, None, "Ann")
    assert await asker.ask("who?", retries=2) == "Ann"
    assert asker.asked == ["who?", "who?", "who?"]
    assert await Asker(None, None).ask("who?", retries=1) is None


async def test_the_question_may_be_put_otherwise_the_second_time() -> None:
    asker = Asker("?", "!", "Ann")
    assert await asker.ask("who?", again="a name, please", retries=2, check=str.isalpha) == "Ann"
    assert asker.asked == ["who?", "a name, please", "a name, please"]


async def test_an_answer_that_will_not_do_is_none_in_the_end() -> None:
    asker = Asker("1", "2")
    assert await asker.ask("who?", retries=1, check=str.isalpha) is None
    assert len(asker.asked) == 2


@pytest.mark.parametrize(
    ("says", "means", "times"),
    [
        (["yes"], True, 1),
        (["No, thanks"], False, 1),
        (["hm", "yes"], True, 2),
        ([None, "no"], False, 2),
        (["hm", "hm"], None, 2),
        ([None, None], None, 2),
    ],
)
async def test_yes_or_no_is_asked_twice_unless_it_is_clear(
    says: list[str | None], means: bool | None, times: int
) -> None:
    asker = Asker(*says)
    assert await asker.ask_yes_no("sure?") is means
    assert len(asker.asked) == times


async def test_yes_and_no_are_understood_in_the_language_of_the_turn() -> None:
    assert await Asker("na klar", lang="de-DE").ask_yes_no("sicher?") is True
    assert await Asker("na klar", lang="fr-FR").ask_yes_no("sûr?", retries=0) is None


@pytest.mark.parametrize(
    ("says", "chosen", "times"),
    [
        (["the second one"], "green", 1),
        (["RED"], "red", 1),
        (["grene"], "green", 1),
        (["purple", "blue"], "blue", 2),
        (["purple", "violet"], None, 2),
        ([None, "3"], "blue", 2),
    ],
)
async def test_a_choice_comes_back_as_it_was_offered(says: list[str | None], chosen: str | None, times: int) -> None:
    asker = Asker(*says)
    assert await asker.ask_choice(["red", "green", "blue"], "which colour?", again="red, green or blue?") == chosen
    assert asker.asked == ["which colour?", "red, green or blue?"][:times]


async def test_a_question_that_the_user_withdrew_is_not_asked_again() -> None:
    asker = Asker(None, "milk")
    asker.is_withdrawn = True
    assert await asker.ask("what?", retries=3) is None
    assert asker.asked == ["what?"]
