"""The features by which sentences are compared: their words, the beginnings of words, and neighbouring words.

Nothing here depends on a language. The beginning of a word serves as its stem: four letters distinguish "remind" and
"reminder" from "remove" in most languages that inflect. Languages written without spaces have one word to a sentence
and therefore match as written or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

from hark.intents.grammar import is_slot

STEM: Final = 4
"""Letters of a word's beginning; shorter words and those as long have none."""
STEM_WEIGHT: Final = 0.5
PAIR_WEIGHT: Final = 0.6
"""Two words side by side."""
SIMILAR_WEIGHT: Final = 0.4
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

_OPPOSITES: Final = {
    "en": "on / off; up raise raised increase louder higher brighter warmer hotter / down lower decrease "
    "quieter darker cooler colder dim; open opened / close closed shut; lock locked / unlock unlocked; "
    "start begin resume continue launch / stop pause halt end quit; enable activate / disable deactivate; "
    "arm / disarm; mute / unmute; add / remove delete; accept / decline reject",
    "de": "an ein / aus; hoch rauf lauter wärmer heller höher / runter herunter leiser kälter dunkler "
    "niedriger; auf öffne öffnen / zu schließe schließen; aufsperren entsperre / absperren sperre "
    "verriegle; starte beginne / stoppe beende halte; aktiviere aktivieren / deaktiviere deaktivieren; "
    "hinzu / entferne lösche",
    "es": "enciende encender prende prender / apaga apagar; sube subir aumenta / baja bajar reduce; abre abrir "
    "/ cierra cerrar; bloquea bloquear / desbloquea desbloquear; activa activar / desactiva desactivar; "
    "inicia empieza / para detén; añade agrega / quita elimina borra",
    "fr": "allume allumer / éteins éteindre; monte monter augmente / baisse baisser diminue; ouvre ouvrir / "
    "ferme fermer; verrouille verrouiller / déverrouille déverrouiller; active activer / désactive "
    "désactiver; démarre lance / arrête stoppe; ajoute ajouter / supprime enlève retire",
    "it": "accendi accendere / spegni spegnere; alza alzare aumenta / abbassa abbassare riduci; apri aprire / "
    "chiudi chiudere; blocca bloccare / sblocca sbloccare; attiva attivare / disattiva disattivare; avvia "
    "inizia / ferma interrompi; aggiungi / togli rimuovi elimina",
    "pt": "liga ligar acende acender / desliga desligar apaga apagar; sobe aumenta / baixa diminui reduz; abre "
    "abrir / fecha fechar; tranca trancar / destranca destrancar; ativa ativar / desativa desativar; "
    "inicia começa / para pára; adiciona acrescenta / remove apaga tira",
    "nl": "aan / uit; omhoog harder warmer / omlaag zachter kouder; open / dicht; start / stop; activeer / "
    "deactiveer; voeg / verwijder",
}

Opposites = tuple[tuple[frozenset[str], frozenset[str]], ...]


def _pairs(text: str) -> Opposites:
    sides = [pair.partition("/") for pair in text.split(";")]
    return tuple((frozenset(one.split()), frozenset(other.split())) for one, _, other in sides)


OPPOSITES: Final[Mapping[str, Opposites]] = {lang: _pairs(text) for lang, text in _OPPOSITES.items()}
"""Words of which one says the opposite of another, in pairs of groups."""
_TURNING: Final[Mapping[str, frozenset[str]]] = {
    lang: DENYING[lang].union(*[side for pair in pairs for side in pair]) for lang, pairs in OPPOSITES.items()
}
"""All of those words, and those that turn a sentence into its opposite."""

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

_PERSONS: Final = frozenset(["i", "you", "we", "they", "he", "she", "it", "there", "any", "anyone"])
_ORDERING: Final[Mapping[str, frozenset[str]]] = {"do": _PERSONS, "have": _PERSONS}
"""Words that begin orders too, and what follows them in a question."""

_STATING: Final = {
    "en": "he she they we it the his her their our there",
    "de": "er sie wir ihr es der die das sein seine ihre unser unsere da",
    "es": "él ella ellos ellas nosotros el la los las su sus nuestro nuestra hay había",
    "fr": "il elle ils elles on nous le la les son sa ses leur notre nos",
    "it": "lui lei loro noi il lo la i gli le suo sua nostro nostra",
    "pt": "ele ela eles elas nós o a os as seu sua nosso nossa havia",
    "nl": "hij zij ze we wij het de zijn haar hun ons onze er",
}
_REQUESTING: Final = {
    "en": "i we / want need would could should can may must have got wanna wish like love prefer",
    "de": "ich wir / möchte möchten will wollen brauche brauchen muss müssen hätte würde kann könnte sollte soll",
    "es": "yo nosotros he hemos / quiero quisiera necesito puedo tengo querría",
    "fr": "je nous j'ai / veux voudrais peux dois ai aimerais besoin",
    "it": "io noi ho abbiamo / voglio vorrei posso devo ho bisogno da",
    "pt": "eu nós / quero queria gostaria preciso posso tenho",
    "nl": "ik we wij / wil moet kan zou",
}
REQUESTING: Final[Mapping[str, tuple[frozenset[str], frozenset[str]]]] = {
    lang: _pairs(text)[0] for lang, text in _REQUESTING.items()
}
"""Words for those who speak, and what follows them in a request: "i want", but not "i woke"."""

STATING: Final[Mapping[str, frozenset[str]]] = {lang: frozenset(words.split()) for lang, words in _STATING.items()}
"""Words that a sentence begins with which tells something; commands rarely do."""

_OTHERS: Final = {
    "en": "he she him her his hers",
    "de": "er ihn ihm seine seinen seiner deren",
    "es": "él ella ellos ellas",
    "fr": "elle elles lui leur leurs",
    "it": "lui loro",
    "pt": "ele ela eles elas dele dela deles delas",
    "nl": "hij hem haar zijn hun",
}
OTHERS: Final[Mapping[str, frozenset[str]]] = {lang: frozenset(words.split()) for lang, words in _OTHERS.items()}
"""Words for persons who neither speak nor are spoken to, and for nobody else."""

NO_FILLERS: Final[frozenset[str]] = frozenset()


@lru_cache(maxsize=256)
def _primary(lang: str) -> str:
    # Cached because it is asked for every word.
    return lang.partition("-")[0].lower()


def is_light(word: str, lang: str) -> bool:
    """Whether a word says little; in a language without a list, whether it is short."""
    words = LIGHT.get(_primary(lang))
    return word in words if words is not None else len(word) <= 3 and word.isascii()


def turning(own: frozenset[str], lang: str, is_broad: bool) -> frozenset[str]:
    """The words that turn the meaning of an intent with these words round.

    An intent that is said in many ways may have a word of two opposites too, which is just not among its sentences; the
    opposite of a word that it has is none. Of other intents each such word has to be their own.
    """
    tag = _primary(lang)
    if not is_broad:
        return _TURNING.get(tag, NO_FILLERS)
    sides = [side for pair in OPPOSITES.get(tag, ()) for side in pair]
    return _turning(tag, tuple([not own.isdisjoint(side) for side in sides]))


@cache
def _turning(tag: str, has: tuple[bool, ...]) -> frozenset[str]:
    # Cached because many intents have the same.
    sides = [side for pair in OPPOSITES.get(tag, ()) for side in pair]
    opposite = [sides[place ^ 1] for place, is_there in enumerate(has) if is_there]
    return DENYING.get(tag, NO_FILLERS).union(*opposite)


def denies(words: Iterable[str], lang: str) -> bool:
    """Whether one of these words turns a sentence into its opposite."""
    return not DENYING.get(_primary(lang), NO_FILLERS).isdisjoint(words)


def asking(lang: str) -> frozenset[str]:
    """The words of a language that a question begins with."""
    return ASKING.get(_primary(lang), NO_FILLERS)


def others(lang: str) -> frozenset[str]:
    """The words of a language for persons who neither speak nor are spoken to."""
    return OTHERS.get(_primary(lang), NO_FILLERS)


@cache
def clause_words(lang: str) -> frozenset[str]:
    """The words that clauses of their own have, and things hardly: "she", "is", "who"."""
    return (stating(lang) - fillers(lang)) | asking(lang)


def is_question(sentence: Sequence[str], lang: str) -> bool:
    """Whether a sentence begins as questions do; "do a countdown" and "have me up by six" are none."""
    if sentence[0] not in asking(lang):
        return False
    return sentence[0] not in _ORDERING or (len(sentence) > 1 and sentence[1] in _ORDERING[sentence[0]])


def stating(lang: str) -> frozenset[str]:
    """The words of a language that a statement begins with."""
    return STATING.get(_primary(lang), NO_FILLERS)


def tells_of_speaker(said: Sequence[str], lang: str) -> bool:
    """Whether an utterance begins by telling what the speaker does or did, not what the speaker wants."""
    pair = REQUESTING.get(_primary(lang))
    return pair is not None and len(said) > 1 and said[0] in pair[0] and said[1] not in pair[1]


def fillers(lang: str) -> frozenset[str]:
    """The filler words of a language, whatever its region; empty when there is no list for it."""
    return FILLERS.get(_primary(lang), NO_FILLERS)
