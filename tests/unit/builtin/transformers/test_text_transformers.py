"""Corrections, validation, privacy, entities, keywords, defaults and redaction, in an assistant."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hark.builtin import ParrotSkill
from hark.builtin.transformers import SHIPPED, named
from hark.builtin.transformers.dialog.length import LengthCap
from hark.builtin.transformers.dialog.speakable import Speakable
from hark.builtin.transformers.guards import ContentGuard, PolicyGuard
from hark.builtin.transformers.intent.defaults import SessionDefaults
from hark.builtin.transformers.intent.entities import EntityIndex, EntityLookup
from hark.builtin.transformers.intent.keywords import TemplateKeywords
from hark.builtin.transformers.intent.redaction import SlotRedaction
from hark.builtin.transformers.metadata.privacy import TurnPrivacy
from hark.builtin.transformers.metadata.router import Router
from hark.builtin.transformers.utterance.corrections import Corrections, CorrectionsFile
from hark.builtin.transformers.utterance.validate import TranscriptValidator, why_invalid
from hark.plugins import Match, Message, PipelinePlugin, Session, Turn
from hark.skills import Skill, intent
from hark.spec.names import CAPTURE_ID
from hark.testing import Assistant, settle, transformed


async def test_corrections_are_read_again_when_their_file_was_edited(tmp_path: Path) -> None:
    file = tmp_path / "corrections" / "corrections.txt"
    file.parent.mkdir()
    file.write_text("# misheard\nsay jello = say hello\n[de]\nsag = say\n")
    async with Assistant(Corrections(), ParrotSkill(), data_root=tmp_path) as assistant:
        assert await assistant.hears("Say jello world") == ["hello world"]
        file.write_text("say fellow = say hello\n")
        os.utime(file, ns=(1, 1))
        await assistant.clock.advance(2.5)
        assert await assistant.hears("say fellow") == ["hello"]
        assert await assistant.hears("say jello world") == ["jello world"]


async def test_a_line_that_is_no_correction_is_named_for_the_doctor(tmp_path: Path) -> None:
    (tmp_path / "corrections").mkdir()
    (tmp_path / "corrections" / "corrections.txt").write_text("good = better\nno sign here\n")
    plugin = Corrections()
    async with Assistant(plugin, data_root=tmp_path):
        assert "line 2: 'no sign here' is not: heard = meant" in plugin.problem()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("TERN ON IT", "TURN ON IT"), ("um hark", "hark"), ("um", "um"), ("nai\u0308ve", "simple"),
        ("Tern on", "Turn on"),
    ],
)  # fmt: skip
def test_a_correction_keeps_capitals_and_leaves_no_empty_text(said: str, meant: str) -> None:
    assert CorrectionsFile("tern on = turn on\num =\nna\xefve = simple").corrected(said, "en-US") == meant


def test_a_correction_is_found_where_no_spaces_are_between_words() -> None:
    file = CorrectionsFile("打开等 = 打开灯\nlied = light")
    assert file.corrected("请打开等,lied", "zh-CN") == "请打开灯,light"


def test_the_longest_correction_wins_and_punctuation_stays() -> None:
    file = CorrectionsFile("new york = New York\nnew york times = the Times\n[en]\nhi = hello")
    assert file.corrected("read (new york times), hi", "en-US") == "read (the Times), hello"
    assert file.corrected("read (new york times), hi", "de-DE") == "read (the Times), hi"


@pytest.mark.parametrize(
    "text", ["", "[Music]", "you you you you you you you", "Thank you for watching!", "♪ la ♪", "a b c d",
             "turn it on turn it on turn it on", "Thanks for watching. Thanks for watching.", "¡Suscríbete al canal!",
             "Untertitel von Stephanie Geiges", "Ondertiteld door Amara.org", "ご視聴ありがとうございました"],
)  # fmt: skip
def test_what_recognisers_make_of_noise_is_invalid(text: str) -> None:
    assert why_invalid(text)


@pytest.mark.parametrize("text", ["stop", "no no no no", "what time is it", "1 2 3 4", "a b", "wie spät ist es",
                                  "subtítulos en inglés", "字幕を表示して", "untertitel an", "thank you"])  # fmt: skip
def test_what_people_say_is_valid(text: str) -> None:
    assert why_invalid(text) == ""


async def test_the_device_that_heard_nonsense_asks_again_in_its_language() -> None:
    async with Assistant(TranscriptValidator(), ParrotSkill()) as assistant:
        spoken = {CAPTURE_ID: "capture-1", "source": "kitchen-speaker"}
        answers = await assistant.hears("[Musik]", lang="de-DE", session="kitchen", context=spoken)
        assert answers == ["Wie bitte? Sag das bitte noch einmal."]
        [asked] = assistant.of("ovos.utterance.speak")
        assert asked.session_id == "kitchen"
        assert asked.data["listen"] is True
        assert asked.context["destination"] == "kitchen-speaker"
        [cancelled] = assistant.of("ovos.utterance.cancelled")
        assert cancelled.data["cancel_reason"] == "transcription_invalid"
        assert len(assistant.of("ovos.utterance.handled")) == 1
        assert await assistant.hears("[Musik]", lang="de-DE") == [], "what was typed is not checked"


@pytest.mark.parametrize("keep", ["no-text", "none"])
async def test_a_private_session_leaves_no_words_in_traces(keep: str) -> None:
    rules = {"rules": [{"devices": ["bedroom"], "keep": keep}], "otherwise": "all"}
    settings = {"plugins": {"privacy": rules}}
    async with Assistant(TurnPrivacy(), ParrotSkill(), settings=settings) as assistant:
        assert await assistant.hears("say secret", session="bedroom") == ["secret"]
        assert await assistant.hears("say public", session="kitchen") == ["public"]
        kept = [trace.record() for trace in assistant.runtime.traces]
        assert "public" in str(kept)
        assert "secret" not in str(kept)
        assert len(kept) == (2 if keep == "no-text" else 1)
        if keep == "no-text":
            assert [step.who for step in kept[0].steps if step.stage == "metadata"] == ["privacy"]


async def test_what_states_no_language_is_in_that_of_the_assistant(tmp_path: Path) -> None:
    (tmp_path / "corrections").mkdir()
    (tmp_path / "corrections" / "corrections.txt").write_text("[de]\nsag hallo = say hallo\n")
    rule = {"phrases": ["verboten"], "langs": ["de"]}
    settings = {"assistant": {"lang": "de-DE"}, "plugins": {"policy": {"rules": [rule]}}}
    made = (Corrections(), PolicyGuard(), Speakable(), ParrotSkill())
    async with Assistant(*made, settings=settings, data_root=tmp_path) as assistant:
        await assistant.hears("das ist verboten")
        assert assistant.of("ovos.utterance.cancelled")
        await assistant.hears("sag hallo")
        assert assistant.trace().utterances == ("sag hallo",)
        assert "say hallo" in assistant.why()
        assistant.bus.emit(Message("ovos.utterance.speak", {"utterance": "um 17:30 Uhr"}))
        await settle()
        assert assistant.rendered[-1].text == "um siebzehn Uhr dreißig"


class Player(Skill):
    """Tells which slots it was called with."""

    id = "player.skill"

    @intent("play {song} by {artist}", "put on something")
    async def play(self, turn: Turn) -> None:
        await turn.speak(", ".join(f"{name} = {text}" for name, text in sorted(turn.slots.items())))


class Classifier(PipelinePlugin):
    """Knows which intent is meant, as a model would, and nothing of its slots."""

    id = "classifier"

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | None:
        return Match("player.skill", "play", lang, utterances[0]) if "play" in utterances[0] else None


async def test_names_from_lists_become_slots(tmp_path: Path) -> None:
    folder = tmp_path / "entities" / "entities"
    folder.mkdir(parents=True)
    (folder / "artist.txt").write_text("# people\nABBA = mbid:d87e52c5\nThe Beatles\nAb\n")
    (folder / "room.txt").write_text("kitchen\n")
    async with Assistant(Classifier(), EntityLookup(), Player(), data_root=tmp_path) as assistant:
        assert await assistant.hears("play abba in the Kitchen") == [
            "artist = abba, artist.id = mbid:d87e52c5, room = Kitchen"
        ]
        assert await assistant.hears("play abbatoir") == [""], "whole words only"


@pytest.mark.parametrize(
    ("said", "text", "name"),
    [
        ("play beyonce now", "beyonce", "Beyoncé"),
        ("play ac dc", "ac dc", "AC/DC"),
        ("play guns n\u2019 roses", "guns n\u2019 roses", "Guns N' Roses"),
        ("坂本龍一をかけて", "坂本龍一", "坂本龍一"),
        ("PLAY MOTLEY CRUE!", "MOTLEY CRUE", "Mötley Crüe"),
    ],
)
def test_names_are_found_as_recognisers_write_them(said: str, text: str, name: str) -> None:
    import ahocorasick_rs

    names = ["Beyoncé", "AC/DC", "Guns N' Roses", "坂本龍一", "Mötley Crüe"]
    index = EntityIndex(ahocorasick_rs, {"artist": [(one, one) for one in names]})
    assert index.find(said) == [("artist", text, name)]


def test_a_name_among_a_hundred_thousand_is_found() -> None:
    import ahocorasick_rs

    names = {"song": [(f"song number {number} of the year", str(number)) for number in range(100_000)]}
    index = EntityIndex(ahocorasick_rs, names)
    assert len(index) == 100_000
    sentence = "please play song number 99999 of the year in the kitchen"
    assert index.find(sentence) == [("song", "song number 99999 of the year", "99999")]


async def test_slots_come_from_the_templates_of_the_matched_intent() -> None:
    async with Assistant(Classifier(), TemplateKeywords(), Player()) as assistant:
        assert await assistant.hears("play waterloo by abba") == ["artist = abba, song = waterloo"]
        assert await assistant.hears("could you play waterloo by abba") == ["artist = abba, song = waterloo"]


async def test_slots_that_were_left_out_come_from_the_session() -> None:
    slots = {"player.skill:timezone": "", "unit": "system_unit", "city": "location.city"}
    settings = {"plugins": {"defaults": {"slots": slots, "values": {"location.city": "Lisbon"}}}}
    async with Assistant(Classifier(), SessionDefaults(), Player(), settings=settings) as assistant:
        session = Session("s", location={"tz": "Europe/Lisbon"}, system_unit="metric")
        assert await assistant.hears("play", session=session) == [
            "city = Lisbon, timezone = Europe/Lisbon, unit = metric"
        ]


async def test_personal_data_is_hidden_from_handlers_that_are_not_trusted() -> None:
    said = "say mail bob@example.org or call +351 912 345 678, card 4111 1111 1111 1111, not 4111 1111 1111 1112"
    async with Assistant(SlotRedaction(), ParrotSkill()) as assistant:
        [answer] = await assistant.hears(said)
        assert answer.startswith("mail [email] or call [phone], card [card], not ")
        [dispatch] = assistant.of("parrot.skill:say")
        assert "bob@" not in str(dispatch.data)
    trusting = {"plugins": {"redact": {"trusted": ["parrot.skill"]}}}
    async with Assistant(SlotRedaction(), ParrotSkill(), settings=trusting) as assistant:
        assert "bob@example.org" in (await assistant.hears(said))[0]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("call (555) 123-4567", "call [phone]"),
        ("card 4111 1111 1111 1112 is wrong", "card [phone] is wrong"),
        ("write bob dot smith at example dot org", "write [email]"),
        ("escribe a ana arroba correo punto es", "escribe a [email]"),
        ("pay de89370400440532013000", "pay [iban]"),
        ("ping fe80::1ff:fe23:4567:890a or 192.168.0.1", "ping [address] or [address]"),
        ("meet on 2026-11-18 or 18/11/2026 at 10:30:15", "meet on 2026-11-18 or 18/11/2026 at 10:30:15"),
        ("how much is 3.14159265 by 2", "how much is 3.14159265 by 2"),
        ("10 000 000 people and 1000000 more", "10 000 000 people and 1000000 more"),
        ("to IBAN DE89 3704 0044 0532 0130 00 please", "to IBAN [iban] please"),
        ("pay gb82 west 1234 5698 7654 32 the rent", "pay [iban] the rent"),
        ("pay DE89 3704 0044 0532 0130 01 now", "pay [iban] now"),
        ("schreib an max unterstrich m \xe4t web punkt de", "schreib an [email]"),
        ("mejla anna bindestreck berg snabel-a exempel punkt se", "mejla [email]"),
        ("from 2024 2025 at a polka dot dress", "from 2024 2025 at a polka dot dress"),
    ],
)
async def test_what_is_personal_data(said: str, left: str) -> None:
    seen = await transformed(SlotRedaction(), Match("some.skill", "some", "en-US", said, {"text": said}))
    assert (seen.artifact.utterance, seen.artifact.slots["text"]) == (left, left)


@pytest.mark.parametrize(
    "said", ["unl\u200bock the door", "UNLOCK the door", "\uff55nlock the door", "un\u00adlock it", "unl\ufe0fock it",
             "un\u034flock it", "unl\x00ock it"]
)  # fmt: skip
async def test_a_guard_sees_through_characters_that_print_nothing(said: str) -> None:
    rules = {"rules": [{"phrases": ["unlock"]}]}
    seen = await transformed(PolicyGuard(), [said], settings=rules)
    assert seen.outcome == "cancelled"
    masked = await transformed(ContentGuard(), said, settings=rules)
    assert "lock" not in masked.artifact.casefold()


@pytest.mark.parametrize(
    ("text", "lang", "left"),
    [
        ("iPhone 今天天气很好我们去公园玩吧然后再去吃饭最后回家睡觉", "zh-CN", "iPhone 今天天气很好我们去公园玩吧…"),
        ("今天天气很好，我们去公园玩吧，然后再去吃饭，最后回家", "zh-CN", "今天天气很好，我们去公园玩吧…"),  # noqa: RUF001
        ("x" + "e\u0301" * 15, "fr-FR", "x" + "e\u0301" * 9 + "…"),
        ("One two three four five six.", "en-US", "One two three four…"),
    ],
)
async def test_an_answer_of_one_sentence_is_cut_where_it_can_be(text: str, lang: str, left: str) -> None:
    seen = await transformed(LengthCap(), text, lang=lang, settings={"characters": 20})
    assert seen.artifact == left


class Door(Skill):
    """What a guard is for."""

    id = "door.skill"

    @intent("open the door")
    def open(self, turn: Turn) -> str:
        return "Open."


@pytest.mark.parametrize(
    "said", ["open the door", "open, the door", "Open-the-door", "open 'the' door", "open (the) door!",
             "\xf6pen the door", "op-en the door"],
)  # fmt: skip
async def test_a_guard_reads_a_text_as_matchers_do(said: str) -> None:
    rules = {"rules": [{"phrases": ["open the door"]}]}
    async with Assistant(PolicyGuard(), Door(), settings={"plugins": {"policy": rules}}) as assistant:
        assert await assistant.hears(said) == []
        assert assistant.of("ovos.utterance.cancelled")


@pytest.mark.parametrize("phrase", ["c++", "$100", "100%"])
async def test_a_phrase_with_signs_is_taken_as_it_is(phrase: str) -> None:
    rules = {"rules": [{"phrases": [phrase]}]}
    assert (await transformed(PolicyGuard(), [f"learn {phrase} now"], settings=rules)).outcome == "cancelled"
    plain = "".join(one for one in phrase if one.isalnum())
    assert (await transformed(PolicyGuard(), [f"learn {plain} now"], settings=rules)).outcome == "unchanged"


@pytest.mark.parametrize(
    ("said", "phrase", "is_refused"),
    [
        ("请打开门吧", "打开门", True),
        ("ドアを開けてください", "ドアを開け", True),
        ("ปลดล็อกประตูหน้า", "ปลดล็อก", True),
        ("请unlock一下", "unlock", True),
        ("请unlocked一下", "unlock", False),
        ("打开窗", "打开门", False),
    ],
)
async def test_a_guard_finds_phrases_where_no_spaces_are_between_words(
    said: str, phrase: str, is_refused: bool
) -> None:
    rules = {"rules": [{"phrases": [phrase]}]}
    assert (await transformed(PolicyGuard(), [said], settings=rules)).outcome == (
        "cancelled" if is_refused else "unchanged"
    )
    masked = (await transformed(ContentGuard(), said, settings=rules)).artifact
    assert (masked == said) is not is_refused


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Well, darn, it works.", "Well, it works."),
        ("Darn it, DARN!", "it!"),
        ("Darn! It rains, darn.", "It rains."),
        ("Is it 3.50, darn?", "Is it 3.50?"),
    ],
)
async def test_a_masked_word_leaves_no_punctuation_alone(said: str, left: str) -> None:
    seen = await transformed(ContentGuard(), said, settings={"rules": [{"phrases": ["darn"]}]})
    assert seen.artifact == left


async def test_a_route_denies_an_intent_in_whatever_words() -> None:
    routes = [{"devices": ["guest"], "deny_intents": ["door.skill:open"]}]
    async with Assistant(Router(), Door(), settings={"plugins": {"router": {"routes": routes}}}) as assistant:
        for said in ("open the door", "open that door", "opn the door"):
            assert await assistant.hears(said, session="guest") == []
        assert await assistant.hears("open the door") == ["Open."]


class Probe(PipelinePlugin):
    """Notes which persona each turn is for, and claims nothing."""

    id = "probe"

    def __init__(self) -> None:
        self.personas: list[str | None] = []

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | None:
        self.personas.append(session.persona_id)
        return None


async def test_a_route_knows_the_language_that_an_utterance_states() -> None:
    routes = [{"langs": ["de"], "deny_skills": ["parrot.skill"]}]
    settings = {"plugins": {"router": {"routes": routes}}, "assistant": {"langs": ["de-DE"]}}
    async with Assistant(Router(), ParrotSkill(), settings=settings) as assistant:
        assert await assistant.hears("say boo", lang="de-AT") == []
        assert await assistant.hears("say boo", lang="en-US") == ["boo"]
        assert await assistant.hears("say boo") == ["boo"]


async def test_a_route_holds_for_one_turn() -> None:
    routes = [{"wake_words": ["hey kids"], "persona": "clown", "deny_skills": ["parrot.skill"]}]
    settings = {"plugins": {"router": {"routes": routes}}}
    probe = Probe()
    async with Assistant(Router(), probe, ParrotSkill(), settings=settings) as assistant:
        assert await assistant.hears("say boo", context={"wake_word": "Hey_Kids"}) == []
        assert await assistant.hears("say boo") == ["boo"]
    assert probe.personas == ["clown", None]


def test_every_shipped_transformer_is_what_the_catalogue_says() -> None:
    for one in SHIPPED:
        made = one.load()
        assert (getattr(made, "type", "audio_tap"), made.id) == (one.kind, one.id)
        assert named(one.name) == (one,)
    places = [(one.kind, getattr(one.load(), "priority", 0)) for one in SHIPPED]
    assert places == sorted(places, key=lambda place: ([kind for kind, _ in places].index(place[0]), place[1]))
    assert {one.kind for one in named("translate")} == {"utterance", "dialog"}


@pytest.mark.parametrize(
    ("plugin", "settings", "why"),
    [
        (PolicyGuard, {"rules": [{"phrase": ["unlock"]}]}, "it has no setting 'rules 1.phrase'"),
        (PolicyGuard, {"rules": [{"phrases": [""]}]}, "a phrase has no letters and no figures"),
        (PolicyGuard, {"rules": [{"phrases": ["x"], "reason": ""}]}, "its settings are wrong"),
        (ContentGuard, {"rules": [{"phrases": ["ok", " "]}]}, "a phrase is empty"),
        (Router, {"routes": [{"persona": "x"}, {"device": ["kids"]}]}, "it has no setting 'routes 2.device'"),
        (Router, {"routes": [{"lang": "german!"}]}, "'german!' is not a language tag"),
        (Router, {"routes": [{"langs": ["en-US", "?"]}]}, "'?' is not a language tag"),
    ],
)
async def test_a_rule_that_would_mean_something_else_is_refused(
    plugin: Any, settings: dict[str, Any], why: str
) -> None:
    """A misspelt condition is no condition: such a rule would hold for every turn."""
    with pytest.raises(ValueError, match="is not loaded") as refused:
        await transformed(plugin(), ["hello"] if plugin is PolicyGuard else "hello", settings=settings)
    assert why in str(refused.value)


async def test_a_transformer_that_keeps_files_can_be_tried_alone(tmp_path: Path) -> None:
    folder = tmp_path / "corrections"
    folder.mkdir()
    (folder / "corrections.txt").write_text("lied = light\n")
    seen = await transformed(Corrections(), ["the lied"], data_root=tmp_path)
    assert seen.artifact == ["the light"]
