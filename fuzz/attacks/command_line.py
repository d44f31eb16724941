"""Attacks by arguments and standard input."""

from __future__ import annotations

import os
import shutil

from attacks.target import Attack, Target, promise


async def control_characters(target: Target) -> str:
    """Words that would control the terminal of whoever reads the answer."""
    evil = "\x1b[31mred\x07 \u202etxt.exe \u2066x\u2069 \x9b2J"
    _, text = await target.hark("say", f"say {evil}", *target.places)
    promise(not any(bad in text for bad in "\x1b\x07\u202e\u2066\u2069\x9b"), f"{text!r}")
    return "shown without them"


async def long_arguments(target: Target) -> str:
    """Arguments of 100 kB."""
    for words in (("say", "x" * 100_000), ("why", "x" * 100_000), ("forget", "--session", "x" * 100_000)):
        status, text = await target.hark(*words, *(target.places if words[0] != "forget" else target.places[2:]))
        promise(status in (0, 1, 2), f"{words[0]}: status {status}")
        promise(len(text) < 300_000, f"{words[0]}: {len(text)} characters")
    return "three commands"


async def odd_arguments(target: Target) -> str:
    """Ids that are paths, patterns or no UTF-8."""
    for odd in ("../../etc/passwd", "*", ".*", "\udcff", "-1", "%s%s%n", "\u202e"):
        status, text = await target.hark("why", "--", odd, within=20)
        promise(status in (0, 1, 2), f"{odd!r}: status {status}")
        promise("root:" not in text, f"{odd!r}: it shows a file")
    return "7 ids"


async def paths_elsewhere(target: Target) -> str:
    """A plugin package whose name leads out of the directory."""
    here = target.home / "here"
    for name in ("../../evil", "/tmp/evil", "a/b", "a\nb", "$(id)", "-x", "..", "\u202e"):
        here.mkdir()
        before = set(target.home.rglob("*"))
        await target.hark("new", "skill", "--", name, folder=here)
        made = [path for path in set(target.home.rglob("*")) - before if not {here, target.state} & set(path.parents)]
        promise(not made, f"{name!r} made {made}")
        shutil.rmtree(here)
    return "8 names, nothing outside the directory"


async def binary_input(target: Target) -> str:
    """Standard input that is no text."""
    state = str(target.home / "other")
    quiet = target.home / "quiet.toml"
    quiet.write_text("[bus]\nserve = false\n")
    junk = os.urandom(200_000) + b"\n" + b"x" * 3_000_000 + b"\nsay hello\n"
    status, text = await target.hark(
        "run", "--no-plugins", "--settings", str(quiet), "--state", state, stdin=junk, within=60
    )
    promise("hello" in text.splitlines() or status == 2, f"status {status}: {text[-200:]}")
    return "what follows is answered" if "hello" in text.splitlines() else "refused"


async def dead_broker(target: Target) -> str:
    """A bus that is not there, one that is no bus, and a broker beyond loopback without credentials."""
    for url in (
        "ws://127.0.0.1:1/core",
        "nats://127.0.0.1:1",
        f"nats://127.0.0.1:{target.port}",
        "nats://192.0.2.1:4222",
    ):
        status, text = await target.hark("say", "hello", "--bus", url, within=20)
        promise(status == 2 and text, f"{url}: status {status}")
    promise("is not on this machine" in text, f"no credentials: {text}")
    return "four places, each refused with a reason"


ATTACKS = [
    Attack("command line", "words that control the terminal", control_characters),
    Attack("command line", "arguments of 100 kB", long_arguments),
    Attack("command line", "ids that are paths or patterns", odd_arguments),
    Attack("command line", "names that lead elsewhere", paths_elsewhere),
    Attack("command line", "standard input that is no text", binary_input),
    Attack("command line", "buses that are not there", dead_broker),
]
