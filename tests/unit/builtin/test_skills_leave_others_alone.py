"""What is none of their business, the skills that come with Hark leave alone."""

from __future__ import annotations

import pytest

from hark.builtin import DEFAULT_PLUGINS, FactsSkill, LimitsSkill
from hark.skills import Skill
from hark.testing import Assistant

SAID = {
    "en-US": """turn on the kitchen light; play some music; add a meeting to my calendar; what is on tv tonight;
        tell me a story; tell me the news; read me a book; clear the table; wash the dishes; remove the stain""",
    "de-DE": """schalte das Licht ein; spiele Musik; was läuft heute im Fernsehen; erzähl mir eine Geschichte;
        mach die Tür auf; wie viel kostet das; was ist das mal wieder""",
    "es-ES": "enciende la luz; pon música; cuéntame un cuento; abre la puerta",
    "fr-FR": "allume la lumière; mets de la musique; raconte-moi une histoire; ouvre la porte",
    "it-IT": "accendi la luce; metti la musica; raccontami una storia; apri la porta",
    "pt-PT": "acende a luz; põe música; conta uma história; abre a porta",
}

LAST = (LimitsSkill, FactsSkill)
"""What answers when all others left it alone: the one says what is missing, the other looks things up."""


@pytest.mark.parametrize("lang", SAID)
async def test_what_other_skills_are_for_is_claimed_by_none_of_them(lang: str) -> None:
    skills = [kind() for kind in DEFAULT_PLUGINS if issubclass(kind, Skill) and kind not in LAST]
    async with Assistant(*skills, settings={"assistant": {"lang": lang}}) as hark:
        for text in SAID[lang].split(";"):
            assert await hark.hears(text.strip()) == [], hark.why()
