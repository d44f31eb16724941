"""Scripts played aloud by engines that are fake: what is said can be read from the sound, and takes its time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from hark.app.settings import Settings
from hark.app.voice.engines import ChosenEngine, EngineFactory, NoEngine, VoiceConfig
from hark.hosting import Refusal
from hark.model import Audio
from hark.plugins import Turn
from hark.plugins.engines import Engine, TTSEngine, WakeDetector, WakeWord
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import play
from hark.testing.scripts.voice import ScriptLoudspeaker, ScriptMicrophone, VoiceSetup
from hark.testing.scripts.voice_assistant import mostly_in
from hark.testing.voice.input import FakeSTT, FakeVAD, FakeWakeWords, Scene

ENGLISH = "language: en-US\n"


class FakeVoice(TTSEngine):
    """Speaks so that the fake recogniser understands it: a quarter of a second for each word."""

    id = "fake-voice"
    quick = True

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        if "unspeakable" in text:
            raise ValueError("it is unspeakable")
        words = "".join(letter for letter in text.lower() if letter.isalnum() or letter in " '")
        return Audio(Scene().says(words).samples, 16_000)


class InPieces(FakeVoice):
    """The same, word by word."""

    id = "in-pieces"

    def stream(self, text: str, lang: str, voice: str | None = None) -> Iterator[Audio]:
        return (self.synthesize(word, lang) for word in text.split())


class Others(FakeVoice):
    id = "other-voice"


class Deaf(FakeWakeWords):
    """Listens for somebody else's name."""

    def detector(self, wake_word: WakeWord) -> WakeDetector:
        return super().detector(replace(wake_word, phrase="computer"))


class Fakes(VoiceSetup):
    """Engines that need no model."""

    def __init__(self, *engines: Engine, listen_back: bool = True, users: tuple[type[TTSEngine], ...] = (Others,)):
        super().__init__(listen_back=listen_back)
        self._given = engines
        self._users = users
        self.loudspeakers: list[ScriptLoudspeaker] = []

    def config(self, settings: Settings, microphone: ScriptMicrophone, loudspeaker: ScriptLoudspeaker) -> VoiceConfig:
        self.loudspeakers.append(loudspeaker)
        kinds = {engine.kind for engine in self._given}
        usual = [microphone, loudspeaker, *(one for one in (FakeVAD(), FakeWakeWords(), FakeSTT(), FakeVoice()))]
        engines = [*self._given, *(one for one in usual if one.kind not in kinds)]
        instead = {one.kind: [ChosenEngine(each, {}) for each in engines if each.kind == one.kind] for one in engines}
        return VoiceConfig(factory=EngineFactory(settings, installed=False), instead=instead, earcons=False)

    def user_voices(self, settings: Settings, answering: Engine | None) -> Iterator[ChosenEngine | Refusal]:
        yield from (ChosenEngine(user(), {}) for user in self._users if user is not type(answering))


class Talker(Skill):
    id = "talker.skill"

    @intent("order a pizza")
    async def order(self, turn: Turn) -> None:
        size = await turn.ask_choice(["small", "large"], "Which size?", retries=0)
        await turn.speak("Then not." if size is None else f"A {size} pizza is on its way.")

    @intent("tell a story")
    async def story(self, turn: Turn) -> None:
        await turn.speak("Once upon a time there was a king. He had a castle and a garden.")
        await turn.speak("And they lived happily ever after.")

    @intent("say no more")
    def short(self, turn: Turn) -> str:
        return "Fine."

    @intent("curse")
    def curse(self, turn: Turn) -> str:
        return "This is unspeakable."

    @intent("come back later")
    async def later(self, turn: Turn) -> None:
        await self.host.clock.sleep(300)
        await turn.speak("Here I am.")


class Heard(Skill):
    """Sees how the ears were opened."""

    id = "heard.skill"

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def begin(self) -> None:
        self.host.on(topics.LISTENER_WAKEWORD, lambda _message: self.seen.append("wake word"))
        self.host.on(topics.MIC_LISTEN, lambda _message: self.seen.append("listen"))


async def aloud(script: str, by: VoiceSetup | None = None) -> None:
    await play(ENGLISH + script, Talker, aloud=by or Fakes())


async def differs(script: str, by: VoiceSetup | None = None) -> str:
    with pytest.raises(AssertionError) as raised:
        await aloud(script, by)
    return str(raised.value)


BOTH = {
    "a command": "user: say no more\nhark: fine\nuser: say no more\nhark: fine\nhark says nothing\n",
    "a follow-up": "user: order a pizza\nhark asks: which size?\nuser: large\nhark: a large pizza is on its way\n",
    "nobody answers": "user: order a pizza\nhark asks: which size?\n[1 minute later]\nhark: then not\n",
    "a long story": "user: tell a story\nhark: once *\nhark: and they lived *\nuser: say no more\nhark: fine\n",
    "later": "user: come back later\nhark says nothing\n[4 minutes later]\n[1 minute later]\nhark: here i am\n",
    "interrupted": "user: tell a story\nhark: once *\nuser interrupts: say no more\nhark: fine\nhark says nothing\n",
    "interrupted unread": "user: tell a story\nuser interrupts: say no more\nhark: fine\n",
    "another room": "user (den): tell a story\nhark (den): ...\nuser (den) interrupts: say no more\nhark (den): fine\n",
    "restart": "user: say no more\nhark: fine\n[restart]\nuser: say no more\nhark: fine\n",
}


@pytest.mark.parametrize("script", BOTH.values(), ids=BOTH)
async def test_a_script_holds_aloud_and_as_text(script: str) -> None:
    await aloud(script)
    await play(ENGLISH + script, Talker)


@pytest.mark.parametrize("script", ["a long story", "interrupted", "interrupted unread", "a follow-up"])
async def test_a_script_holds_with_a_voice_that_speaks_in_pieces(script: str) -> None:
    await aloud(BOTH[script], Fakes(InPieces()))


async def test_another_language_is_spoken_after_pressing_a_button() -> None:
    heard = FakeSTT()
    script = "user: say no more\nhark: fine\nlanguage: de-DE\nuser: say no more\n"
    script += "hark: * nicht verstanden\n"
    await aloud(f"{script}happens: ovos.intent.unmatched\n", Fakes(heard, listen_back=False))
    assert [lang for _, lang in heard.heard] == ["en-US", "de-DE"]


async def test_a_question_is_answered_without_the_wake_word() -> None:
    messages = Heard()
    await play(ENGLISH + BOTH["a follow-up"], Talker, lambda: messages, aloud=Fakes())
    assert messages.seen == ["wake word", "listen"]


async def test_who_interrupts_is_heard_at_the_same_sample_every_time() -> None:
    played = []
    for _ in range(2):
        by = Fakes(listen_back=False)
        await aloud(BOTH["interrupted"], by)
        played.append(by.loudspeakers[0].timeline)
    assert played[0] == played[1]
    [cut] = [end - begin for begin, end, whole in played[0] if not whole]
    assert 0.3 < cut < 1.5  # a wake word long


async def test_what_is_over_cannot_be_interrupted() -> None:
    told = await differs("user: say no more\nhark: fine\nuser interrupts: say no more\nhark: fine\n")
    assert "script:4: Hark had finished speaking before the wake word was over" in told
    told = await differs("user: come back later\nuser interrupts: say no more\nhark: fine\n")
    assert "there is nothing to interrupt: Hark is silent" in told
    with pytest.raises(AssertionError, match="there is nothing to interrupt"):
        await play(f"{ENGLISH}user: come back later\nuser interrupts: say no more\nhark: fine\n", Talker)


async def test_what_was_misheard_is_told() -> None:
    told = await differs("user: say no more\nhark: fine\n", Fakes(FakeSTT("florble")))
    assert '"say no more" was recognised as "florble"' in told
    told = await differs("user: say no more\nhark: fine\n", Fakes(FakeSTT("")))
    assert 'nothing was recognised of "say no more"' in told


async def test_a_wake_word_that_is_not_heard() -> None:
    told = await differs("user: say no more\nhark: fine\n", Fakes(Deaf()))
    assert told.startswith('script:2: the wake word "hey jarvis" was not heard')
    assert "try another engine with --voice" in told


async def test_what_cannot_be_said_aloud_is_a_difference() -> None:
    told = await differs("user: curse\nhark: this is unspeakable\nhark says nothing\n")
    assert "script:3: Hark could not speak it" in told


async def test_what_is_heard_has_to_be_what_was_said() -> None:
    told = await differs("user: say no more\nhark: fine\n", Fakes(FakeSTT("say no more", "gone")))
    assert 'script:3: what is recognised of it is "gone"' in told
    await aloud("user: say no more\nhark: fine\n", Fakes(FakeSTT("say no more", "gone"), listen_back=False))


async def test_there_has_to_be_another_voice() -> None:
    with pytest.raises(NoEngine, match="no voice for the users beside the one that answers"):
        await aloud("user: say no more\nhark: fine\n", Fakes(users=(FakeVoice,)))


def test_most_words_are_enough() -> None:
    assert mostly_in("A large pizza is on its way.", "a large pizza is on it's weigh")
    assert mostly_in("It is 17:30.", "it is seventeen thirty")
    assert mostly_in("17:30", "half past five")
    assert not mostly_in("17:30", "")
    assert not mostly_in("A large pizza is on its way.", "nothing of the sort")
