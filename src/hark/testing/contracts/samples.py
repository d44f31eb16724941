"""What plugins are tried with: ordinary things, and things people and recognisers really come up with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hark.model import Audio, Match
from hark.spec import TransformerType

ORDINARY: Final = "turn on the light in the kitchen"

TEXTS: Final[Mapping[str, str]] = {
    "ordinary": ORDINARY,
    "a_single_letter": "a",
    "blanks": " \t ",
    "punctuation": "?!... --",
    "unicode": "größer, ñandú, Ελλάδα, 日本語, עברית, 👩\u200d👩\u200d👧 \u202enrut\u202c",
    "capitals_and_numbers": "SET ALARM 4 12:30 AM 1,000.5 %",
    "very_long": "turn on the light " * 5_000,
}
"""Utterances and responses, by what is special about them."""

UTTERANCES: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: (text,) for name, text in TEXTS.items()},
    "many_candidates": tuple(f"turn on the light {number}" for number in range(200)),
    "equal_candidates": (ORDINARY, ORDINARY),
}

AUDIO: Final[Mapping[str, Audio]] = {
    "ordinary": Audio(b"\x10\x00\xf0\xff" * 8_000, 16_000),
    "silence_of_no_length": Audio(b"", 16_000),
    "a_single_frame": Audio(b"\x01\x00", 16_000),
    "stereo": Audio(b"\x01\x00\x02\x00" * 1_000, 44_100, channels=2),
    "eight_bits": Audio(b"\x80" * 1_000, 8_000, sample_width=1),
    "very_long": Audio(b"\x01\x00" * 1_600_000, 16_000),
}

MATCHES: Final[Mapping[str, Match]] = {
    "ordinary": Match("light.skill", "on", "en-US", ORDINARY, {"room": "kitchen"}),
    "without_slots": Match("light.skill", "on", "en-US", ORDINARY),
    "unicode": Match("light.skill", "on", "el-GR", TEXTS["unicode"], {"δωμάτιο": "κουζίνα", "empty": ""}),
    "of_an_unknown_language": Match("light.skill", "on", "tlh", ORDINARY),
    "very_long": Match("light.skill", "on", "en-US", TEXTS["very_long"], {"text": TEXTS["very_long"]}),
}

ARTIFACTS: Final[Mapping[TransformerType, Mapping[str, Any]]] = {
    "audio": AUDIO,
    "utterance": UTTERANCES,
    "metadata": {"ordinary": None},
    "intent": MATCHES,
    "dialog": TEXTS,
    "tts": AUDIO,
}
"""What the transformers of each kind are tried with."""

LANGUAGES: Final = ("de-DE", "tlh", "zz-Zzzz-ZZ", "EN-us", "qaa-x-private", "pt-br")
"""Tags that a plugin may meet: known, unknown, and in unusual case."""

NONSENSE: Final = ("flibber wozzle grunt", "qxzv", "0x0 0x0 0x0")
"""What no plugin should think it understands."""
