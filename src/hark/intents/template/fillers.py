"""Words that say little about what is wanted, by primary language.

In a large house they show themselves by being common. In a small one nobody may have them in a sentence, and then
"would you please" must not count as three words nobody knows. A language without a list does without.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_LISTS: Final = {
    "en": "a an the this that my your our me you i we it is are be to of for and or so just now please can could would "
    "will should do does hey hello ok okay want need like some any there here then also maybe kindly let us",
    "de": "ein eine einen einem einer der die das den dem des mein meine meinen dein deine mir mich dir du ich wir es "
    "ist sind sein zu von für und oder so nur jetzt bitte kannst könntest würdest kann könnte möchte will hallo hey ok "
    "mal doch auch noch gern gerne",
    "es": "un una unos unas el la los las mi mis tu tus me te yo lo es son ser a de para por y o así solo ahora favor "
    "puedes podrías puede podría quiero quisiera hola oye ok también algo",
    "fr": "un une des le la les mon ma mes ton ta tes me moi te tu je nous il est sont être à de du pour et ou juste "
    "maintenant plaît s'il vous peux pourrais peut veux voudrais salut ok aussi donc",
    "it": "un uno una il lo la i gli le mio mia miei tuo tua mi ti io noi è sono essere a di del della per e o solo "
    "ora adesso favore puoi potresti può vorrei voglio ciao ehi ok anche",
    "pt": "um uma uns umas o a os as meu minha meus teu tua me te eu nós é são ser de do da para por e ou só agora "
    "favor pode poderia podes quero queria gostaria olá oi ok também",
    "nl": "een de het mijn jouw me mij je jij ik we is zijn te van voor en of maar nu alsjeblieft kun kunt kan zou wil "
    "graag hallo hoi oké ook even",
}

FILLERS: Final[Mapping[str, frozenset[str]]] = {lang: frozenset(words.split()) for lang, words in _LISTS.items()}
"""Folded as words of utterances are."""

NO_FILLERS: Final[frozenset[str]] = frozenset()


def fillers(lang: str) -> frozenset[str]:
    """The fillers of a language, whatever its region; empty when nobody wrote any down."""
    return FILLERS.get(lang.partition("-")[0].lower(), NO_FILLERS)
