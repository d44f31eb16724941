"""How people take back what they are just saying, by primary language.

Only phrases that mean nothing else at the end of a sentence: "cancel" alone may be about a timer, and "stop" is for
whoever is doing something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CANCEL_PHRASES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        *("never mind", "nevermind", "never mind that", "nevermind that", "cancel that", "cancel command"),
        *("ignore that", "ignore what I said", "forget I said that", "forget what I said", "scratch that"),
    ),
    "de": (
        *("vergiss es", "vergiss das", "vergiss es wieder", "vergiss was ich gesagt habe", "ach egal"),
        *("ignoriere das", "Befehl abbrechen", "Kommando zurück"),
    ),
    "es": ("olvídalo", "olvida eso", "olvida lo que he dicho", "ignora eso", "cancela eso"),
    "fr": ("laisse tomber", "laissez tomber", "oublie ça", "oublie ce que j'ai dit", "ignore ça", "annule ça"),
    "it": ("lascia perdere", "lascia stare", "dimentica quello che ho detto", "ignora quello che ho detto"),
    "pt": ("deixa para lá", "deixa pra lá", "esquece isso", "esquece o que eu disse", "ignora isso", "cancela isso"),
}
