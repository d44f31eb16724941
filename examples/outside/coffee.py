"""A skill in a program of its own, without Hark: `pip install websockets`, then `python coffee.py [URL]`."""

import json
import sys
import time
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

URL = sys.argv[1] if len(sys.argv) > 1 else "ws://127.0.0.1:8181/core"
SKILL = {"skill_id": "coffee.example"}
INTENTS = {"brew": ["make [me] {kind} coffee"], "ask": ["make [me] [a] coffee"]}


def serve(bus: ClientConnection) -> None:
    def send(topic: str, data: dict[str, Any], context: dict[str, Any] = {}) -> None:  # noqa: B006 - it is only read
        bus.send(json.dumps({"type": topic, "data": data, "context": context}))

    for frame in bus:
        message = json.loads(frame)
        topic, data, context = message["type"], message.get("data", {}), message.get("context", {})
        if topic in ("connected", "ovos.intents.ready"):  # understanding was started again and knows nothing of us
            send("ovos.skill.loaded", {**SKILL, "completes": True})
            for name, samples in INTENTS.items():
                intent = {**SKILL, "intent_name": name, "lang": "en-US", "samples": samples}
                send("ovos.intent.register.template", intent)
        elif topic == "ovos.converse.ping":
            send("ovos.converse.pong", {**SKILL, "can_handle": False}, context)
        elif topic == "coffee.example:ask":  # what is said next in this session comes as coffee.example:response
            context["session"]["response_mode"] = {**SKILL, "expires_at": time.time() + 30}
            send("ovos.utterance.speak", {"utterance": "Which kind?", "lang": data["lang"], "listen": True}, context)
            send("hark.handler.done", {"topic": topic}, context)
        elif topic in ("coffee.example:brew", "coffee.example:response"):
            kind = data["slots"].get("kind") or data["utterance"]
            send("ovos.utterance.speak", {"utterance": f"Here is your {kind} coffee.", "lang": data["lang"]}, context)
            send("hark.handler.done", {"topic": topic}, context)


while True:
    try:
        with connect(URL) as bus:
            serve(bus)
    except (ConnectionClosed, OSError):
        time.sleep(1)
