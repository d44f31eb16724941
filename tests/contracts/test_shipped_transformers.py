"""The transformers that ship with Hark keep the contract that everybody else is held to, with settings that make each
of them do something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hark.builtin.transformers import SHIPPED
from hark.testing.contracts import transformer_contract

_LANGS: Final = {"langs": ["en-US", "de-DE"]}
_RULES: Final = {"phrases": ["kitchen"], "langs": ["de"], "hours": "00:00-24:00"}
_NOWHERE: Final = "http://127.0.0.1:9"
"""Nothing listens there: what asks a service has to cope with that as well."""

SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "audio.privacy": {"rules": [{"devices": ["x"], "keep": "none"}]},
    "audio.publish": {"url": "nats://127.0.0.1:9"},
    "utterance.language": _LANGS,
    "utterance.validate": {"typed": True},
    "utterance.policy": {"rules": [_RULES]},
    "metadata.rate-limit": {"per_minute": 600, "burst": 1_000},
    "metadata.router": {"routes": [{"devices": ["x"], "pipeline": ["template"], "lang": "en-US"}]},
    "intent.defaults": {"slots": {"room": "", "light.skill:timezone": ""}, "values": {"site_id": "hall"}},
    "intent.redact": {"slots": ["room"]},
    "dialog.content": {"rules": [_RULES, {"pattern": "l.ght", "say": "lamp"}]},
    "dialog.length": {"characters": 40},
    "tts.tempo": {"tempo": 1.25, "semitones": 2},
}
_ELSEWHERE: Final = (
    "audio_tap.sound-data",  # tests/contracts/test_sound_models.py, with the next
    "audio.spoken-language",
    "dialog.tone",
    "utterance.translate",
    "dialog.translate",
)
"""Those that need a model or a server have their contract where there is one."""

for one in SHIPPED:
    if one.name not in _ELSEWHERE:
        name = "test_" + one.name.replace(".", "_").replace("-", "_")
        globals()[name] = transformer_contract(one.load(), settings=SETTINGS.get(one.name))
