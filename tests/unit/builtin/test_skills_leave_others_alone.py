"""What is none of their business, the skills that come with Hark leave alone."""

from __future__ import annotations

import pytest

from hark.builtin import DEFAULT_PLUGINS
from hark.skills import Skill
from hark.testing import Assistant

SAID = {
    "en-US": """what is the weather in Berlin; what's the weather tomorrow; turn on the kitchen light; play some music;
        set a timer for five minutes; who is the president of France; how are you; add a meeting to my calendar;
        what is on tv tonight; tell me a story; tell me the news; what is the meaning of life; how old are you;
        remove the alarm; how many people live in Paris; what is your name; read me a book; clear the table""",
    "de-DE": """wie ist das Wetter in Berlin; schalte das Licht ein; spiele Musik; wer ist der Bundeskanzler;
        stelle einen Timer auf fünf Minuten; was läuft heute im Fernsehen; erzähl mir eine Geschichte;
        was ist der Sinn des Lebens; wie alt bist du; mach die Tür auf; wie viel kostet das; was ist das mal wieder""",
    "es-ES": """qué tiempo hace en Madrid; enciende la luz; pon música; pon un temporizador de cinco minutos;
        quién es el presidente; cuéntame un cuento; cuántos años tienes; abre la puerta""",
    "fr-FR": """quel temps fait-il à Paris; allume la lumière; mets de la musique; qui est le président;
        mets un minuteur de cinq minutes; raconte-moi une histoire; quel âge as-tu; ouvre la porte""",
    "it-IT": """che tempo fa a Roma; accendi la luce; metti la musica; imposta un timer di cinque minuti;
        chi è il presidente; raccontami una storia; quanti anni hai; apri la porta""",
    "pt-PT": """como está o tempo em Lisboa; acende a luz; põe música; quem é o presidente; conta uma história;
        quantos anos tens; abre a porta""",
}


@pytest.mark.parametrize("lang", SAID)
async def test_what_other_skills_are_for_is_claimed_by_none_of_them(lang: str) -> None:
    skills = [kind() for kind in DEFAULT_PLUGINS if issubclass(kind, Skill)]
    async with Assistant(*skills, settings={"assistant": {"lang": lang}}) as hark:
        for text in SAID[lang].split(";"):
            assert await hark.hears(text.strip()) == [], hark.why()
