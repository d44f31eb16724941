"""Run in the environment of a peer that has Hark and plugins of OVOS: one trial, its findings as JSON.

python opm.py TRIAL
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from hark.bridges import opm
from hark.bridges.opm.engines import engine
from hark.plugins import Audio, Ctx, Plugin, handles
from hark.skills import Skill, intent
from hark.testing import Assistant


class Listener(Skill):
    """Says what it heard."""

    id = "listener.skill"

    @intent("it is not what i said")
    def denied(self, turn: Any) -> str:
        return f"heard {turn.utterance}"

    @intent("what is the weather in {city}")
    def weather(self, turn: Any) -> str:
        return f"city {turn.slots['city']}"

    @intent("how far is it")
    def far(self, turn: Any) -> str:
        return "I'm 5 km away from Dr. Who at 10:30"


class Places(Skill):
    id = "places.skill"

    async def start(self) -> None:
        for lang in self.host.langs:
            cities = {"entity_name": "city", "samples": ["lisbon", "paris"], "lang": lang, "skill_id": self.id}
            self.host.emit("ovos.entity.register", cities)

    @intent("is it nice there in (lisbon|paris) today")
    def nice(self, turn: Any) -> str:
        return json.dumps(dict(turn.slots))


class Registered(Plugin):
    """Registers as programs do, for matchers of OVOS alone."""

    id = "registered.skill"

    async def start(self) -> None:
        common = {"skill_id": self.id, "lang": "en-US"}
        emit = self.host.emit
        emit("ovos.entity.register", {**common, "entity_name": "city", "samples": ["lisbon", "paris", "new york"]})
        plain = {**common, "intent_name": "plain", "samples": ["open the pod bay doors", "open the doors please"]}
        emit("ovos.intent.register.template", plain)
        slots = {**common, "intent_name": "trip", "samples": ["book a trip to {city}", "i want to travel to {city}"]}
        emit("ovos.intent.register.template", slots)
        robots = {"name": "robot", "samples": ["robot", "droid"]}
        rooms = {"name": "kitchen", "samples": ["kitchen", "living room"]}
        emit("ovos.intent.register.keyword", {**common, "intent_name": "clean", "required": [robots, rooms]})

    @handles("plain")
    def plain(self, turn: Any) -> str:
        return "plain"

    @handles("trip")
    def trip(self, turn: Any) -> str:
        return json.dumps(dict(turn.slots))

    @handles("clean")
    def clean(self, turn: Any) -> str:
        return json.dumps(dict(turn.slots))


async def said(text: str, *plugins: Any, settings: dict[str, Any] | None = None) -> dict[str, Any]:
    """What came of one utterance."""
    async with Assistant(*plugins, settings=settings or {}) as assistant:
        spoken = await assistant.hears(text)
        return outcome(assistant, spoken)


def outcome(assistant: Any, spoken: Any) -> dict[str, Any]:
    cancelled = [dict(one.context) for one in assistant.of("ovos.utterance.cancelled")]
    matched = [dict(one.data) for one in assistant.of("ovos.intent.matched")]
    return {
        "spoken": list(spoken),
        "cancelled": [{key: one.get(key) for key in ("cancel_reason", "cancel_word")} for one in cancelled],
        "matched": matched,
        "markers": len(assistant.of("ovos.utterance.handled")),
    }


async def normalizer() -> Any:
    return await said("it isn't what i said", Listener(), *opm.plugins(["utterance.ovos-utterance-normalizer"]))


async def cancel() -> Any:
    names = ["ovos-utterance-cancel-plugin", "ovos-utterance-plugin-cancel"]
    texts = ("what is the weather in lisbon cancel that", "turn the heating on cancel that")
    return {"trials": [await said(text, Listener(), *opm.plugins(names)) for text in texts]}


async def corrections() -> Any:
    return await said("wether in lisbon", Listener(), *opm.plugins(["ovos-utterance-corrections-plugin"]))


async def dialog_normalizer() -> Any:
    return await said("how far is it", Listener(), *opm.plugins(["ovos-dialog-normalizer-plugin"]))


async def ahocorasick() -> Any:
    return await said("is it nice there in lisbon today", Places(), *opm.plugins(["ovos-ahocorasick-ner-plugin"]))


async def matcher(name: str, *texts: str, **options: Any) -> Any:
    settings = {"assistant": {"pipeline": [name]}, "plugins": {name: options}}
    spoken: list[str] = []
    async with Assistant(Registered(), *opm.plugins([name]), settings=settings) as assistant:
        for text in texts:
            spoken += await assistant.hears(text)
        return outcome(assistant, spoken)


async def padatious() -> Any:
    return await matcher("ovos-padatious-pipeline-plugin", "open the pod bay doors", "book a trip to lisbon")


async def adapt() -> Any:
    return await matcher("ovos-adapt-pipeline-plugin", "send the droid to the living room")


async def espeak() -> Any:
    made: Any = engine("tts", "ovos-tts-plugin-espeakng")
    made.settings = {}
    made.load()
    audio = made.synthesize("hello world, what time is it", "en-US")
    return {"seconds": audio.seconds, "format": [audio.sample_rate, audio.sample_width, audio.channels]}


async def stt_server() -> Any:
    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.rfile.read(int(self.headers["Content-Length"]))[:4])
            body = json.dumps("what time is it").encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    heard: list[bytes] = []
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        made: Any = engine("stt", "ovos-stt-plugin-server")
        made.settings = {"url": f"http://127.0.0.1:{server.server_port}/stt"}
        made.load()
        transcript = await asyncio.to_thread(made.transcribe, Audio(bytes(32_000), 16_000), "en-US")
        server.shutdown()
    return {"utterances": list(transcript.utterances), "sent": [one.decode() for one in heard]}


async def sox() -> Any:
    import logging

    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("hark").addHandler(handler)
    [plugin] = opm.plugins(["ovos-tts-transformer-sox-plugin"]) or [None]
    from hark.model import Session
    from hark.model.frozen import EMPTY

    async with Assistant(plugin):
        audio = Audio(bytes(range(256)) * 100, 22_050)
        result = await asyncio.to_thread(plugin.transform, audio, Ctx(EMPTY, Session("default"), "en-US", True))
    return {"unchanged": result == audio, "log": lines}


TRIALS: dict[str, Callable[[], Any]] = {
    one.__name__: one
    for one in (
        normalizer,
        cancel,
        corrections,
        dialog_normalizer,
        ahocorasick,
        padatious,
        adapt,
        espeak,
        stt_server,
        sox,
    )
}

if __name__ == "__main__":
    print(json.dumps(asyncio.run(TRIALS[sys.argv[1]]()), default=str))
