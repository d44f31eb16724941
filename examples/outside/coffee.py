"""A skill in a program of its own, without Hark: `pip install websockets`, then `python coffee.py [URL]`."""

import json
import sys
import time
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

URL = sys.argv[1] if len(sys.argv) > 1 else "ws://127.0.0.1:8181/core"
SKILL = "coffee.example"
Data = dict[str, Any]


def send(bus: ClientConnection, topic: str, data: Data, context: Data | None = None) -> None:
    bus.send(json.dumps({"type": topic, "data": data, "context": context or {}}))


def register(bus: ClientConnection) -> None:
    send(bus, "ovos.skill.loaded", {"skill_id": SKILL, "completes": True})
    for name, samples in {"brew": ["make [me] {kind} coffee"], "ask": ["make [me] [a] coffee"]}.items():
        names = {"skill_id": SKILL, "intent_name": name, "lang": "en-US"}
        send(bus, "ovos.intent.register.template", {**names, "samples": samples})


def answer(bus: ClientConnection, topic: str, data: Data, context: Data) -> None:
    text, listen = f"Here is your {data['slots'].get('kind') or data['utterance']} coffee.", False
    if topic == f"{SKILL}:ask":
        waits = {"skill_id": SKILL, "expires_at": time.time() + 30}
        context["session"]["response_mode"] = (
            waits  # the next utterance of this session comes as coffee.example:response
        )
        text, listen = "Which kind?", True
    send(bus, "ovos.utterance.speak", {"utterance": text, "lang": data["lang"], "listen": listen}, context)
    send(bus, "hark.handler.done", {"topic": topic}, context)


def serve(bus: ClientConnection) -> None:
    register(bus)
    for frame in bus:
        message = json.loads(frame)
        topic, data, context = message["type"], message.get("data", {}), message.get("context", {})
        if topic == "ovos.intents.ready":  # understanding was started again and knows nothing of us
            register(bus)
        elif topic == "ovos.converse.ping":
            send(bus, "ovos.converse.pong", {"skill_id": SKILL, "can_handle": False}, context)
        elif topic.startswith(f"{SKILL}:"):
            answer(bus, topic, data, context)


while True:
    try:
        with connect(URL) as bus:
            serve(bus)
    except (ConnectionClosed, OSError):
        time.sleep(1)
