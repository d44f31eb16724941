"""The features by which sentences are compared: their words, the beginnings of words, and neighbouring words.

Nothing here depends on a language. The beginning of a word serves as its stem: four letters distinguish "remind" and
"reminder" from "remove" in most languages that inflect. Languages written without spaces have one word to a sentence
and therefore match as written or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from hark.intents.grammar import is_slot

STEM: Final = 4
"""Letters of a word's beginning; shorter words and those as long have none."""
STEM_WEIGHT: Final = 0.8
PAIR_WEIGHT: Final = 0.6
"""Two words side by side."""
SIMILAR_WEIGHT: Final = 0.6
"""A word that is similar to one of the sentences, times that similarity."""
FILLER: Final = 0.75
"""The factor for a word that means little in that language."""
GAP_WEIGHT: Final = 0.4
"""A word beside a slot, or beside a word that no sentence has."""
START: Final = "<"
END: Final = ">"
GAP: Final = "{}"

_BY_LENGTH: Final = (0.85, 0.85, 0.85, 0.95)


def weight(word: str) -> float:
    """The weight of a word by its length: in most languages the common words are short."""
    size = len(word)
    return 1.0 if size > 3 or not word.isascii() else _BY_LENGTH[size]


def is_word(feature: str) -> bool:
    """Whether a feature is a word, not a stem or a pair."""
    return feature[0] != "^" and " " not in feature


def content_stems(words: Iterable[str]) -> frozenset[str]:
    """The beginnings of the words that are not short, which say what a sentence is about."""
    return frozenset([word[:STEM] for word in words if (len(word) > 3 or not word.isascii()) and not is_slot(word)])


def features(sentence: Iterable[str]) -> dict[str, float]:
    """The features of one sentence of a template, with their weights. Slots count only through their neighbours.

    A word is itself, `^` and its beginning is a stem, two words with a space between are neighbours. Words hold neither
    a space nor one of the signs `<`, `>`, `{` at the edge, so the three sorts cannot be taken for each other; a word
    that begins with `^` could, and does no harm.
    """
    found: dict[str, float] = {}
    before = START
    for term in sentence:
        word = GAP if is_slot(term) else term
        if word is not GAP:
            found[word] = weight(word)
            if len(word) > STEM:
                found["^" + word[:STEM]] = STEM_WEIGHT
        found[f"{before} {word}"] = GAP_WEIGHT if GAP in (word, before) else PAIR_WEIGHT
        before = word
    found[f"{before} {END}"] = GAP_WEIGHT if before is GAP else PAIR_WEIGHT
    return found


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

_LIGHT: Final = {
    "en": "in at of from with by about into onto as if but then than its his her their these those what which "
    "today tonight right really very much many more most all every each another other outside inside going gonna",
    "de": "in im ins am bei beim mit nach zum zur vom über unter wenn aber als dann was welche welcher "
    "welches heute sehr viel viele mehr alle jede jeden andere anderen draußen drinnen",
    "es": "en con sin sobre desde hasta al del si pero como que qué cual cuál hoy muy mucho más todo todos todas "
    "otro otra fuera dentro",
    "fr": "en dans sur avec chez par au aux que quoi quel quelle ce cette ces hui aujourd'hui très plus tout tous "
    "toutes autre autres dehors dedans si mais comme y",
    "it": "in su con da dal nel nella sul al alla che cosa quale oggi molto più tutto tutti tutte "
    "altro altra fuori dentro se ma come",
    "pt": "em no na nos nas com sem sobre ao à que qual hoje muito mais tudo todos todas "
    "outro outra fora dentro se mas como",
    "nl": "in met bij naar over als maar dan wat welke vandaag heel veel meer alle andere buiten binnen",
}
LIGHT: Final[Mapping[str, frozenset[str]]] = {
    lang: FILLERS[lang] | frozenset(words.split()) for lang, words in _LIGHT.items()
}
"""Words that say little about what a sentence is about; those that name a direction or a state are not among them."""

_DENYING: Final = {
    "en": "not never no don't doesn't didn't isn't aren't cannot without stop unless nobody nothing",
    "de": "nicht nie niemals kein keine keinen keinem keiner ohne niemand nichts",
    "es": "no nunca jamás sin nadie nada",
    "fr": "ne n'est pas jamais sans personne rien",
    "it": "non mai senza nessuno niente",
    "pt": "não nunca jamais sem ninguém nada",
    "nl": "niet nooit geen zonder niemand niets",
}
DENYING: Final[Mapping[str, frozenset[str]]] = {lang: frozenset(words.split()) for lang, words in _DENYING.items()}
"""Words that turn a sentence into its opposite."""

_POLAR: Final = {
    "en": "on off up down open opened close closed shut lock locked unlock unlocked raise lower louder quieter warmer "
    "cooler colder hotter brighter darker increase decrease start stop enable disable mute unmute arm disarm pause "
    "resume activate deactivate",
    "de": "an aus ein auf zu hoch runter rauf öffne öffnen schließe schließen sperre aufsperren absperren lauter "
    "leiser wärmer kälter heller dunkler starte stoppe aktiviere deaktiviere hoch herunter",
    "es": "enciende apaga encender apagar sube baja abre cierra abrir cerrar bloquea desbloquea activa desactiva",
    "fr": "allume éteins allumer éteindre monte baisse ouvre ferme ouvrir fermer verrouille "
    "déverrouille active désactive",
    "it": "accendi spegni accendere spegnere alza abbassa apri chiudi aprire chiudere blocca sblocca attiva disattiva",
    "pt": "liga desliga acende apaga ligar desligar sobe baixa abre fecha abrir fechar tranca destranca ativa desativa",
    "nl": "aan uit omhoog omlaag open dicht harder zachter warmer kouder start stop activeer deactiveer",
}
POLAR: Final[Mapping[str, frozenset[str]]] = {lang: frozenset(words.split()) for lang, words in _POLAR.items()}
"""Words of which one says the opposite of another."""

_ASKING: Final = {
    "en": "is are was were am who whose when why where how what which did does do has have had should may might",
    "de": "ist sind war waren wer wessen wem wann warum wieso wo wohin woher wie was welche welcher welches hat habe "
    "haben hast hatte soll sollte darf",
    "es": "es está están son era quién quien cuándo cuando porqué dónde donde cómo qué cuál cuánto ha han hay",
    "fr": "est sont était qui quand pourquoi où comment quel quelle quels quelles combien a ont est-ce y",
    "it": "è sono era chi quando perché dove come cosa quale quanto ha hanno c'è",
    "pt": "é está estão são era quem quando porquê onde como qual quanto há tem têm",
    "nl": "is zijn was waren wie wanneer waarom waar hoe wat welke heeft hebben had",
}
ASKING: Final[Mapping[str, frozenset[str]]] = {lang: frozenset(words.split()) for lang, words in _ASKING.items()}
"""Words that a question begins with."""

_STATING: Final = {
    "en": "he she they we it the his her their our there",
    "de": "er sie wir ihr es der die das sein seine ihre unser unsere da",
    "es": "él ella ellos ellas nosotros el la los las su sus nuestro nuestra hay había",
    "fr": "il elle ils elles on nous le la les son sa ses leur notre nos",
    "it": "lui lei loro noi il lo la i gli le suo sua nostro nostra",
    "pt": "ele ela eles elas nós o a os as seu sua nosso nossa havia",
    "nl": "hij zij ze we wij het de zijn haar hun ons onze er",
}
STATING: Final[Mapping[str, frozenset[str]]] = {lang: frozenset(words.split()) for lang, words in _STATING.items()}
"""Words that a sentence begins with which tells something; commands rarely do."""

NO_FILLERS: Final[frozenset[str]] = frozenset()


def is_light(word: str, lang: str) -> bool:
    """Whether a word says little; in a language without a list, whether it is short."""
    words = LIGHT.get(lang.partition("-")[0].lower())
    return word in words if words is not None else len(word) <= 3 and word.isascii()


def denying(lang: str) -> frozenset[str]:
    """The words of a language that turn a sentence into its opposite."""
    return DENYING.get(lang.partition("-")[0].lower(), NO_FILLERS)


def polar(lang: str) -> frozenset[str]:
    """The words of a language of which one says the opposite of another."""
    return POLAR.get(lang.partition("-")[0].lower(), NO_FILLERS)


def asking(lang: str) -> frozenset[str]:
    """The words of a language that a question begins with."""
    return ASKING.get(lang.partition("-")[0].lower(), NO_FILLERS)


def stating(lang: str) -> frozenset[str]:
    """The words of a language that a statement begins with."""
    return STATING.get(lang.partition("-")[0].lower(), NO_FILLERS)


def fillers(lang: str) -> frozenset[str]:
    """The filler words of a language, whatever its region; empty when there is no list for it."""
    return FILLERS.get(lang.partition("-")[0].lower(), NO_FILLERS)
