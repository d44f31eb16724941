"""Text that says the same over and over, and text that does not."""

from __future__ import annotations

import pytest

from hark.builtin.engines.whisper_model import repeats_itself

PROSE = (
    "The old house stood at the end of a narrow lane, behind a row of chestnut trees that nobody had cut for years. In "
    "the morning the postman left his bicycle at the gate and walked up the path with the letters in his hand. Most of "
    "them were bills, but now and then there was a card from the coast, where my aunt had moved after the war. We read "
    "them aloud at breakfast, and my father, who never travelled, would ask where exactly that was."
)
REFRAIN = (
    "This is the farmer sowing the corn, that kept the cock that crowed in the morn, that waked the priest all shaven "
    "and shorn, that married the man all tattered and torn, that kissed the maiden all forlorn, that milked the cow "
    "with the crumpled horn, that tossed the dog, that worried the cat, that killed the rat, that ate the malt, that "
    "lay in the house that Jack built. This is the cow with the crumpled horn, that tossed the dog, that worried the "
    "cat, that killed the rat, that ate the malt, that lay in the house that Jack built."
)
NUMBERS = ("one", "two", "three", "four")
COUNTING = ", ".join(f"{tens} {one}" for tens in ("twenty", "thirty", "forty") for one in NUMBERS)


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        REFRAIN,
        COUNTING,
        f"Very well, very well, said the king. {PROSE}",
        f"{PROSE} No, no, no.",
        "turn on the light and turn on the heating",
        "no no",
        "",
    ],
)
def test_long_speech_is_no_repetition(text: str) -> None:
    assert not repeats_itself(text, 2.2)


@pytest.mark.parametrize(
    "text",
    [
        "What time is it? What time is it?",
        "Flip a coin. Flip a coin. Flip",
        "ha " * 60,
        "so so so " * 30,
        f"{PROSE[:110]} " + "and then there was " * 12,
        "Thank you for watching. " * 12,
    ],
)
def test_a_model_that_goes_round_and_round_does(text: str) -> None:
    assert repeats_itself(text, 2.2)
