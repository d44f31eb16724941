"""Run in the environment of a peer that has Hark and plugins of OVOS: one trial, its findings as JSON.

python opm.py TRIAL
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from hark.bridges import opm
from hark.bridges.opm.engines import engine
from hark.bus import ask
from hark.plugins import Audio, Ctx, Message, Plugin, handles
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
        trips = {"name": "trip_word", "samples": ["trip", "journey"]}
        emit("ovos.intent.register.keyword", {**common, "intent_name": "trip", "required": [trips]})

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


async def solvers() -> Any:
    names = [one.id for one in opm.found(("solver", "toolbox"))]
    answers: dict[str, Any] = {}
    async with Assistant(*opm.plugins(names)) as assistant:
        listed = await ask(assistant.bus, assistant.clock, Message("ovos.tools.list"))
        for box in {one["toolbox_id"] for one in listed.data["tools"] if one["name"] == "answer"}:
            call = {"toolbox_id": box, "name": "answer", "kwargs": {"question": "what is your name"}}
            answer = await ask(assistant.bus, assistant.clock, Message("ovos.persona.tools.call", call))
            answers[box] = answer.data.get("result")
        return {"tools": [one["name"] for one in listed.data["tools"]], "answers": answers}


async def espeak() -> Any:
    made: Any = engine("tts", "ovos-tts-plugin-espeakng")
    made.settings = {}
    made.load()
    audio = made.synthesize("hello world, what time is it", "en-US")
    return {"seconds": audio.seconds, "format": [audio.sample_rate, audio.sample_width, audio.channels]}


@contextmanager
def server(answer: Callable[[BaseHTTPRequestHandler], Any]) -> Iterator[str]:
    """An HTTP server on this machine that answers with JSON."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(answer(self)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


async def translation() -> Any:
    words = {"qué lejos está": "how far is it", "I'm 5 km away from Dr. Who at 10:30": "Estoy lejos."}
    asked: list[list[str]] = []

    def translated(request: BaseHTTPRequestHandler) -> str:
        *_, source, target, text = unquote(request.path.partition("?")[0]).split("/")
        asked.append([source, target])
        return words[text]

    with server(translated) as url:
        module = "ovos-translate-plugin-server"
        detector = "ovos-lang-detector-plugin-server"
        language = {"translation_module": module, "detection_module": detector, module: {"host": url}}
        file = Path.home() / ".config" / "mycroft" / "mycroft.conf"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"lang": "en-US", "language": language}))
        names = ["ovos-utterance-translation-plugin", "ovos-dialog-translation-plugin"]
        async with Assistant(Listener(), *opm.plugins(names)) as assistant:
            spoken = await assistant.hears("qué lejos está", lang="es-ES")
            return {**outcome(assistant, spoken), "asked": asked}


async def keyword_templates() -> Any:
    settings = {"assistant": {"pipeline": ["keyword"]}}
    return await said(
        "book a trip to lisbon", Registered(), *opm.plugins(["ovos-keyword-template-matcher"]), settings=settings
    )


async def stt_server() -> Any:
    heard: list[bytes] = []

    def recognised(request: BaseHTTPRequestHandler) -> str:
        heard.append(request.rfile.read(int(request.headers["Content-Length"]))[:4])
        return "what time is it"

    with server(recognised) as url:
        made: Any = engine("stt", "ovos-stt-plugin-server")
        made.settings = {"url": f"{url}/stt"}
        made.load()
        transcript = await asyncio.to_thread(made.transcribe, Audio(bytes(32_000), 16_000), "en-US")
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
        solvers,
        translation,
        keyword_templates,
        espeak,
        stt_server,
        sox,
    )
}

if __name__ == "__main__":
    print(json.dumps(asyncio.run(TRIALS[sys.argv[1]]()), default=str))
