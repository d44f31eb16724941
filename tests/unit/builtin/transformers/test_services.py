"""Transformers that ask a service: translation, tone, and the validator's model."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from hark.builtin import ParrotSkill
from hark.builtin.transformers.dialog.tone import ModelTone
from hark.builtin.transformers.translation import DialogTranslation, UtteranceTranslation
from hark.builtin.transformers.utterance.validate import TranscriptValidator
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.testing import Assistant
from hark.testing.contracts import transformer_contract
from unit.builtin.transformers.http_services import LocalService, chat, libretranslate, serving


class PizzaSkill(Skill):
    """Asks a question, so that a conversation has several turns."""

    id = "pizza.skill"

    @intent("order a pizza")
    async def order(self, turn: Turn) -> None:
        size = await turn.ask("What size?")
        await turn.speak(f"ordered: {size}")


def bilingual(service: LocalService, **more: object) -> Assistant:
    table = {"url": service.url, **more}
    settings = {"plugins": {"translate": table}}
    return Assistant(UtteranceTranslation(), DialogTranslation(), ParrotSkill(), PizzaSkill(), settings=settings)


async def test_spanish_goes_in_and_comes_out_and_english_is_inside() -> None:
    with serving(libretranslate) as service:
        async with bilingual(service) as assistant:
            assert await assistant.hears("di hola", lang="es-ES") == ["hola"]
            [heard] = assistant.of("parrot.skill:say")
            assert heard.data["lang"] == "en-US"
            assert heard.data["slots"]["text"] == "hello"
            assert assistant.rendered[-1].lang == "es-ES"
            assert await assistant.hears("say hello", lang="en-US") == ["hello"]
        assert [body["q"] for _path, body in service.asked] == ["di hola", "hello"]


async def test_a_question_and_its_answer_are_translated_over_several_turns() -> None:
    with serving(libretranslate) as service:
        async with bilingual(service) as assistant:
            assert await assistant.hears("pide una pizza", lang="es-ES", session="kitchen") == ["¿Qué tamaño?"]
            assert await assistant.hears("grande", lang="es-ES", session="kitchen") == ["pedido: grande"]


async def test_a_translator_that_dies_leaves_the_conversation_alive() -> None:
    with serving(libretranslate) as service:
        async with bilingual(service) as assistant:
            assert await assistant.hears("di hola", lang="es-ES") == ["hola"]
            service.stop()
            assert await assistant.hears("di el pan cuesta 3 €", lang="es-ES") == []
            assert assistant.topics()[-1] == "ovos.utterance.handled"
            assert "cannot be reached" in assistant.why()
            assert await assistant.hears("say hello", lang="en-US") == ["hello"]
            service.start()
            await assistant.clock.advance(11)
            assert await assistant.hears("di el pan cuesta 3 €", lang="es-ES") == ["el pan cuesta 3 €"]


async def test_what_was_translated_once_is_remembered_while_the_translator_is_dead() -> None:
    with serving(libretranslate) as service:
        async with bilingual(service) as assistant:
            await assistant.hears("di hola", lang="es-ES")
            service.stop()
            assert await assistant.hears("di hola", lang="es-ES") == ["hola"]


async def test_a_model_translates_as_well() -> None:
    def reply(system: str, user: str) -> str:
        assert "from es to en" in system or "from en to es" in system
        return libretranslate("/translate", {"q": user, "source": "es", "target": "en"})["translatedText"]

    with serving(chat(reply)) as service:
        settings = {"plugins": {"translate": {"service": "openai", "url": f"{service.url}/v1", "model": "m"}}}
        async with Assistant(
            UtteranceTranslation(), DialogTranslation(), ParrotSkill(), settings=settings
        ) as assistant:
            assert await assistant.hears("di hola", lang="es-ES") == ["hola"]


async def test_portuguese_is_translated_offline() -> None:
    settings = {"plugins": {"translate": {"service": "offline", "langs": ["pt"]}}}
    async with Assistant(UtteranceTranslation(), DialogTranslation(), PizzaSkill(), settings=settings) as assistant:
        assert await assistant.hears("encomenda uma pizza", lang="pt-PT", session="x") == ["Qual o tamanho?"]


async def test_an_assistant_that_translates_everything_is_refused_with_a_remedy() -> None:
    settings = {"plugins": {"translate": {"langs": ["en"]}}}
    async with Assistant(UtteranceTranslation(), settings=settings) as assistant:
        [refusal] = assistant.runtime.refusals
        assert refusal.reason == "every language would be translated"
        assert "inside" in refusal.remedy


async def test_a_model_rewords_answers_and_keeps_their_numbers() -> None:
    with serving(chat(lambda _system, user: f"Sure! {user}")) as service:
        settings = {"plugins": {"tone": {"url": f"{service.url}/v1", "model": "m"}}}
        async with Assistant(ModelTone(), ParrotSkill(), settings=settings) as assistant:
            assert await assistant.hears("say the train leaves at 7:15") == ["Sure! the train leaves at 7:15"]


async def test_an_answer_whose_number_the_model_changed_stays_as_it_was() -> None:
    with serving(chat(lambda _system, _user: "It leaves at 8:15!")) as service:
        settings = {"plugins": {"tone": {"url": f"{service.url}/v1", "model": "m"}}}
        async with Assistant(ModelTone(), ParrotSkill(), settings=settings) as assistant:
            assert await assistant.hears("say the train leaves at 7:15") == ["the train leaves at 7:15"]
            assert "the model changed a number" in assistant.why()


async def test_a_model_that_takes_longer_than_its_budget_is_not_waited_for() -> None:
    over = threading.Event()

    def slow(_system: str, user: str) -> str:
        over.wait(30)
        return user

    with serving(chat(slow)) as service:
        settings = {"plugins": {"tone": {"url": f"{service.url}/v1", "model": "m", "budget": 0.1}}}
        async with Assistant(ModelTone(), ParrotSkill(), settings=settings) as assistant:
            assert await assistant.hears("say this sentence is long enough") == ["this sentence is long enough"]
            over.set()
            assert "did not answer within 0.1 s" in assistant.why()


async def test_a_model_may_refuse_a_transcript() -> None:
    with serving(chat(lambda _system, user: "No." if "potato" in user else "Yes")) as service:
        settings = {"plugins": {"validate": {"url": f"{service.url}/v1", "model": "m", "typed": True}}}
        async with Assistant(TranscriptValidator(), ParrotSkill(), settings=settings) as assistant:
            assert await assistant.hears("say hello") == ["hello"]
            assert await assistant.hears("potato stop green light now yes") == ["Sorry, could you say that again?"]


async def test_a_server_that_is_not_there_is_reported_with_a_remedy() -> None:
    async with Assistant(ModelTone(), settings={"plugins": {"tone": {"url": "http://127.0.0.1:9/v1"}}}) as assistant:
        plugin = assistant.runtime.transformers["dialog"].get("tone").plugin
        assert plugin.problem() == "http://127.0.0.1:9 cannot be reached: Connection refused; start it, or correct url"


ECHO = LocalService(
    lambda path, body: (
        {"translatedText": body["q"]} if path == "/translate" else chat(lambda _system, user: user)(path, body)
    )
)
"""A server that gives back what it was given; started here, because contracts take their settings now."""
ECHO.start()

test_utterance_translation = transformer_contract(UtteranceTranslation, settings={"url": ECHO.url})
test_dialog_translation = transformer_contract(DialogTranslation, settings={"url": ECHO.url})
test_tone = transformer_contract(ModelTone, settings={"url": f"{ECHO.url}/v1"})


@pytest.fixture(scope="module", autouse=True)
def _echo() -> Iterator[None]:
    yield
    ECHO.stop()
