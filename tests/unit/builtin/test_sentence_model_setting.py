"""`[plugins.template] sentence_model`: the template matcher with a sentence model."""

from __future__ import annotations

import logging

import pytest

from hark.app.settings import settings_from
from hark.builtin.intent_matchers import TemplateMatcher
from hark.intents import sentence_model as module
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.testing import Assistant

ON = {"trace": {"disk": False}, "plugins": {"template": {"sentence_model": True}}}


class Bank(Skill):
    id = "bank.skill"

    @intent(
        "i lost my credit card", "my card is gone", "somebody stole my bank card", "i cannot find my card anywhere",
        "my visa went missing", "report a lost card", "i left my card in a taxi", "tell the bank my card was taken",
        "where did my card go", "my debit card has vanished",
    )  # fmt: skip
    def lost(self, turn: Turn) -> str:
        return "It is blocked."


async def test_the_model_decides_what_the_words_leave_unsure() -> None:
    async with Assistant(TemplateMatcher(), Bank(), settings=settings_from(ON), matchers=()) as assistant:
        assert await assistant.hears("a thief ran off with my mastercard") == ["It is blocked."]
        assert await assistant.hears("my card is gone") == ["It is blocked."]
        assert await assistant.hears("a thief never ran off with my mastercard") == []


async def test_without_its_packages_matching_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "MODEL", module.MODEL._replace(package="no-such-package"))
    with caplog.at_level(logging.WARNING):
        async with Assistant(TemplateMatcher(), Bank(), settings=settings_from(ON), matchers=()) as assistant:
            assert await assistant.hears("my card is gone") == ["It is blocked."]
            assert await assistant.hears("a thief ran off with my mastercard") == []
    assert "no-such-package missing: pip install 'hark-voice[sentence-model]'" in caplog.text
