"""A program outside that thinks for as long as it is told, in an environment without Hark.

`thinker.py URL SECONDS specifications` knows the specifications of OVOS alone: it registers, is called and speaks.
`thinker.py URL SECONDS page` follows docs/outside.md: it asks a question, says when it is done and registers again.
"""

import json
import sys
import time

from websockets.sync.client import connect

URL, SECONDS, KNOWS = sys.argv[1], float(sys.argv[2]), sys.argv[3]
SKILL = f"thinker.{KNOWS}"


def send(bus, topic, data, context=None):
    bus.send(json.dumps({"type": topic, "data": data, "context": context or {}}))


def register(bus):
    names = {"skill_id": SKILL, "intent_name": "think", "lang": "en-US"}
    more = {"completes": True} if KNOWS == "page" else {}
    send(bus, "ovos.intent.register.template", {**names, "samples": [f"think about the {KNOWS}"], **more})


def speak(bus, text, context, listen=False):
    send(bus, "ovos.utterance.speak", {"utterance": text, "lang": "en-US", "listen": listen}, context)


with connect(URL) as bus:
    register(bus)
    for frame in bus:
        message = json.loads(frame)
        topic, context = message["type"], message.get("context", {})
        if topic == "ovos.intents.ready" and KNOWS == "page":
            register(bus)
        elif topic == "ovos.converse.ping":
            send(bus, "ovos.converse.pong", {"skill_id": SKILL, "can_handle": False}, context)
        elif topic == f"{SKILL}:think":
            time.sleep(SECONDS)
            if KNOWS == "page":
                context["session"]["response_mode"] = {"skill_id": SKILL, "expires_at": time.time() + 60}
                speak(bus, "Do you want to know?", context, listen=True)
                send(bus, "hark.handler.done", {"topic": topic}, context)
            else:
                speak(bus, "I have thought.", context)
        elif topic == f"{SKILL}:response":
            speak(bus, f"You said {message['data']['utterance']}.", context)
            send(bus, "hark.handler.done", {"topic": topic}, context)
