"""Attacks by files: settings, state, traces, sounds, sentences. Each command gets a home of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from attacks.target import HARK, Attack, HonestClient, Target, promise

_DEEP = "[" * 100_000
_LIMIT = 600 * 2**20
"""Bytes of address space that a command may take."""


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_LIMIT, _LIMIT))


def _hark(home: Path, *words: str, stdin: str = "say hello\n", bounded: bool = True) -> tuple[int, str]:
    """Run a command with 600 MB at most; its status and its text. A traceback or a kill breaks a promise."""
    done = subprocess.run(
        [*HARK, *words],
        input=stdin.encode(errors="surrogatepass"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=False,
        env={**os.environ, "XDG_STATE_HOME": str(home), "XDG_CONFIG_HOME": str(home)},
        preexec_fn=_bounded if bounded else None,
    )
    text = done.stdout.decode(errors="replace")
    promise("Traceback" not in text, f"a traceback: {text[-300:]}")
    promise(done.returncode >= 0, f"it was killed by signal {-done.returncode}")
    return done.returncode, text


def _with_home(name: str, attack: object) -> Attack:
    async def run(_target: Target) -> str:
        with tempfile.TemporaryDirectory(prefix="hark-files-") as home:
            return attack(Path(home))  # type: ignore[operator, no-any-return]

    return Attack("files", name, run)


def _run_with_state(home: Path, files: Mapping[str, bytes]) -> str:
    """Start with these files in the state directory: it answers all the same."""
    state = home / "state"
    state.mkdir(mode=0o700, exist_ok=True)
    for name, octets in files.items():
        (state / name).write_bytes(octets)
    status, text = _hark(home, "run", "--no-plugins", "--state", str(state), "--settings", _quiet(home))
    promise(status == 0 and "hello" in text.splitlines(), f"status {status}: {text[-200:]}")
    return text


def _quiet(home: Path) -> str:
    file = home / "quiet.toml"
    file.write_text("[bus]\nserve = false\n")
    return str(file)


def settings(home: Path) -> str:
    bad = {
        "wrong types": "[bus]\nport = 'x'\n",
        "unknown keys": "[buss]\nport = 1\n",
        "out of range": "[limits]\nutterance = 99999999999999999999\n",
        "no TOML": "\x00\x01{{{",
        "deep": f"a = {'[' * 5_000}{']' * 5_000}",
        "deep tables": "[" + "a." * 5_000 + "b]\nx = 1\n",
        "long": "[assistant]\nlang = '" + "x" * 5_000_000 + "'\n",
        "not UTF-8": "\udcff\udcfe",
    }
    for name, text in bad.items():
        file = home / "bad.toml"
        file.write_bytes(text.encode(errors="surrogateescape"))
        status, said = _hark(home, "run", "--no-plugins", "--settings", str(file), "--state", str(home / "state"))
        promise(status == 2, f"{name}: status {status}")
        promise("bad.toml" in said, f"{name}: the file is not named: {said[-200:]}")
        promise(len(said) < 20_000, f"{name}: {len(said)} characters of error")
    return f"{len(bad)} kinds, each refused by name"


def stored_session(home: Path) -> str:
    bad = [
        b"",
        b"\x00" * 1_000,
        b"[]",
        _DEEP.encode(),
        b'{"session_id":"other"}',
        b'{"lang":7}',
        b'{"x":"' + b"x" * 10_000_000 + b'"}',
        b'{"pipeline":["nothing"],"blacklisted_skills":["parrot.skill"]}',
    ]
    for octets in bad:
        _run_with_state(home, {"session.json": octets})
    return f"{len(bad)} kinds, answered each time"


def open_turns(home: Path) -> str:
    bad = [
        b"+{\n",
        b"+" + _DEEP.encode() + b"\n",
        b"=" + _DEEP.encode() + b"\n",
        b"-\xff\n+null\n",
        b"\x00" * 5_000_000,
    ]
    for octets in bad:
        _run_with_state(home, {"turns.log": octets})
    return f"{len(bad)} kinds, answered each time"


def traces(home: Path) -> str:
    line = {"utterance_id": "a", "session_id": "s", "utterances": ["\x1b[2J\u202e"], "wall": 1e400, "steps": "x"}
    state = home / "state"
    state.mkdir(mode=0o700)
    for octets in (b"\x00\n" * 1_000, _DEEP.encode() + b"\n", json.dumps(line).encode() + b"\n", b"x" * 20_000_000):
        (state / "traces.jsonl").write_bytes(octets)
        status, text = _hark(home, "why", "--state", str(state))
        promise(status in (0, 1), f"status {status}: {text[-200:]}")
        promise("\x1b" not in text and "\u202e" not in text, "control characters reached the terminal")
        status, text = _hark(home, "forget", "--state", str(state))
        promise(status == 0, f"forget: status {status}: {text[-200:]}")
    return "hark why and hark forget bear them"


def trace_of_an_attacker(home: Path) -> str:
    """A well-formed trace with control characters in every text."""
    evil = "\x1b]0;owned\x07\x1b[2J\u202e\u2066\nforged line"
    step = {
        "stage": evil,
        "who": evil,
        "outcome": evil,
        "at": 0.0,
        "seconds": 0.0,
        "detail": evil,
        "before": evil,
        "after": [evil],
    }
    record = {"utterance_id": "a", "session_id": evil, "utterances": [evil], "wall": 0.0, "lang": evil, "outcome": evil}
    state = home / "state"
    state.mkdir(mode=0o700)
    (state / "traces.jsonl").write_text(json.dumps({**record, "seconds": 0.0, "steps": [step]}) + "\n")
    _, text = _hark(home, "why", "--state", str(state))
    promise(not any(bad in text for bad in "\x1b\x07\u202e\u2066"), "control characters reached the terminal")
    return "shown without control characters"


def tokens(home: Path) -> str:
    bad = [b"{", _DEEP.encode(), b'{"tokens":7}', b"null", b"\xff", b'{"a":{"digest":7}}']
    for octets in bad:
        file = home / "tokens.json"
        file.write_bytes(octets)
        file.chmod(0o600)
        status, text = _hark(home, "token", "list", "--state", str(home))
        promise(status in (0, 2) and len(text) < 2_000, f"status {status}: {text[-200:]}")
    return f"{len(bad)} kinds"


def links(home: Path) -> str:
    """Links in the place of files that Hark writes: what they lead to must stay as it is."""
    victim = home / "victim"
    state = home / "state"
    state.mkdir(mode=0o700)
    for name in (
        "session.json.new",
        "session.json",
        "traces.jsonl",
        "turns.log",
        "lock",
        "service.token",
        "control.sock",
    ):
        victim.write_text("precious")
        (state / name).unlink(missing_ok=True)
        (state / name).symlink_to(victim)
        _hark(home, "run", "--no-plugins", "--state", str(state), "--settings", _quiet(home))
        promise(victim.read_text() == "precious", f"{name}: what the link leads to was written")
        (state / name).unlink(missing_ok=True)
    return "7 links, none followed"


def fifos(home: Path) -> str:
    """FIFOs that nothing writes to, and devices, in the place of files."""
    os.mkfifo(home / "fifo.toml")
    for place in (home / "fifo.toml", Path("/dev/zero")):
        status, text = _hark(home, "run", "--no-plugins", "--settings", str(place), "--state", str(home / "other"))
        promise(status == 2 and "it is no file" in text, f"{place.name}: status {status}: {text[-200:]}")
    for name in ("session.json", "turns.log", "traces.jsonl"):
        state = home / name
        state.mkdir(mode=0o700)
        os.mkfifo(state / name)
        status, text = _hark(home, "run", "--no-plugins", "--state", str(state), "--settings", _quiet(home))
        promise(status == 2 and f"{name} is no file" in text, f"{name}: status {status}: {text[-200:]}")
        status, text = _hark(home, "why", "--state", str(state))
        promise(status in (0, 1, 2), f"hark why: status {status}: {text[-200:]}")
    folder = home / "skill" / "locale" / "en-US"
    folder.mkdir(parents=True)
    places = (
        (folder / "hi.intent", ("lint", str(home / "skill"))),
        (home / "talk.hark", ("test", str(home / "talk.hark"))),
        (home / "house.yaml", ("convert", "from-hassil", str(home / "house.yaml"), str(home / "out"))),
        (home / "tokens.json", ("token", "list", "--state", str(home))),
    )
    for path, words in places:
        for kind in ("a FIFO", "a device"):
            os.mkfifo(path, 0o600) if kind == "a FIFO" else path.symlink_to("/dev/zero")
            status, text = _hark(home, *words)
            is_named = path.name in text and ("no file" in text or "other users can read" in text)
            promise(status in (1, 2) and is_named, f"hark {words[0]}, {kind}: status {status}: {text[-200:]}")
            path.unlink()
    return "9 places, each refused by name"


def open_directory(home: Path) -> str:
    state = home / "state"
    state.mkdir()
    state.chmod(0o777)
    status, text = _hark(home, "run", "--no-plugins", "--state", str(state))
    promise(status == 2 and "chmod go-w" in text, f"status {status}: {text[-200:]}")
    return "refused, with the remedy"


def readable_key(home: Path) -> str:
    key, cert = home / "key.pem", home / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-subj", "/CN=x"],
        check=True,
        capture_output=True,
    )
    key.chmod(0o644)
    file = home / "tls.toml"
    file.write_text(
        f"[bus]\nport = 0\nremote_host = '192.0.2.1'\nremote_port = 0\ncertificate = '{cert}'\nkey = '{key}'\n"
    )
    _hark(home, "token", "--settings", str(file), "--state", str(home / "state"), "add", "kitchen")
    status, text = _hark(home, "bus", "--settings", str(file), "--state", str(home / "state"))
    promise(status == 2 and "chmod 600" in text, f"status {status}: {text[-200:]}")
    return "refused, with the remedy"


def yaml_bomb(home: Path) -> str:
    lines = ["language: en", "intents: {}", "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    for name, text in (
        ("bomb", "\n".join(lines)),
        ("circle", "language: en\nintents: &a {A: *a}"),
        ("deep", f"a: {'[' * 20_000}"),
    ):
        (home / f"{name}.yaml").write_text(text)
        status, said = _hark(home, "convert", "from-hassil", str(home / f"{name}.yaml"), str(home / "locale"))
        promise(status == 2 and f"{name}.yaml" in said, f"{name}: status {status}: {said[-200:]}")
    return "three kinds, each refused by name"


def sentences(home: Path) -> str:
    skill = home / "skill" / "locale" / "en-US"
    skill.mkdir(parents=True)
    bombs = {
        "many.intent": "(a|b|c|d) " * 60,
        "deep.intent": "(" * 5_000 + "a" + ")" * 5_000,
        "open.intent": "((((" * 1_000,
        "long.intent": "word " * 500_000,
        "binary.intent": "\x00\x01\x02",
        "loop.voc": "{loop}\n<loop>\n",
    }
    for name, text in bombs.items():
        (skill / name).write_text(text + "\n")
    status, text = _hark(home, "lint", str(home / "skill"), stdin="")
    promise(status in (0, 1, 2), f"status {status}")
    promise(len(text) < 200_000, f"{len(text)} characters of findings")
    return f"{len(bombs)} files, linted in bounds"


_READ_WAV = """
import sys
from hark.model.wav import MalformedWav, read_wav
try:
    print("frames", len(read_wav(open(sys.argv[1], "rb").read()).samples))
except MalformedWav as error:
    print("refused:", error)
"""


def sounds(home: Path) -> str:
    head = b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0"
    good = b"\1\0\1\0\x80>\0\0\0}\0\0\2\0\x10\0"
    bad = [
        b"",
        b"RIFF",
        head + good + b"data\xff\xff\xff\x7f" + b"\0" * 10,
        head + b"\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" + b"data\4\0\0\0abcd",
        head + b"\1\0\xff\xff\xff\xff\xff\xff\0}\0\0\2\0\x10\0" + b"data\4\0\0\0abcd",
        head + b"\x55\0\1\0\x80>\0\0\0}\0\0\2\0\x10\0" + b"data\4\0\0\0abcd",
        head + good + b"junk\xff\xff\xff\xff",
        os.urandom(100_000),
    ]
    for number, octets in enumerate(bad):
        file = home / "bad.wav"
        file.write_bytes(octets)
        done = subprocess.run(
            [sys.executable, "-c", _READ_WAV, str(file)],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=_bounded,
        )
        promise(done.returncode == 0, f"kind {number}: {done.stderr[-200:]}")
    return f"{len(bad)} kinds read or refused"


def full_at_start(home: Path) -> str:
    done = subprocess.run(
        [*HARK, "run", "--no-plugins", "--state", str(home / "state"), "--settings", _quiet(home)],
        input=b"say hello\n",
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )
    text = done.stderr.decode()
    promise(done.returncode == 2 and "free some space" in text, f"status {done.returncode}: {text[-200:]}")
    return "refused, with the remedy"


async def full_meanwhile(target: Target) -> str:
    """The disk fills up while the assistant runs: turns go on, each with its marker, and the log does not grow."""
    before = resource.prlimit(target.pid, resource.RLIMIT_FSIZE)
    size = target.log.stat().st_size
    # The log is a file as well: it may grow by a few kB, which is less than one line for each turn.
    resource.prlimit(target.pid, resource.RLIMIT_FSIZE, (size + 20_000, before[1]))
    try:
        async with HonestClient(target.url) as honest:
            for _ in range(200):
                answers, _ = await honest.ask("say hello")
                promise(answers == ["hello"], "a turn was not answered")
            promise(set(honest.markers.values()) == {1}, "a turn had not one marker")
    finally:
        resource.prlimit(target.pid, resource.RLIMIT_FSIZE, before)
    return f"200 turns with one marker each; the log grew by {target.log.stat().st_size - size} bytes"


def locale_folders(home: Path) -> str:
    """Files of sentences that are FIFOs, folders, devices, links in a circle, no UTF-8, or control a terminal."""
    folder = home / "locale" / "en-US"
    folder.mkdir(parents=True)
    (folder / "good.intent").write_text("good words\n")
    (folder / "binary.intent").write_bytes(os.urandom(5_000))
    (folder / "utf16.intent").write_bytes("words\n".encode("utf-16"))
    (folder / "nul.voc").write_bytes(b"a\x00b\n")
    (folder / "folder.intent").mkdir()
    (folder / "circle.intent").symlink_to(folder / "circle.intent")
    (folder / "around").symlink_to(folder.parent)
    (folder / "device.entity").symlink_to("/dev/zero")
    (folder / "\x1b[2J\u202e.intent").write_text("words\n")
    os.mkfifo(folder / "fifo.intent")
    for words in (
        ("lint", str(home / "locale")),
        ("test", str(home / "locale")),
        ("convert", "to-hassil", str(folder), "-"),
    ):
        status, text = _hark(home, *words)
        promise(status in (0, 1, 2), f"hark {words[0]}: status {status}: {text[-200:]}")
        promise(not any(bad in text for bad in "\x1b\u202e"), f"hark {words[0]}: control characters: {text[-200:]!r}")
        promise(len(text) < 100_000, f"hark {words[0]}: {len(text)} characters")
    return "three commands, each ends with a reason"


def scripts(home: Path) -> str:
    """Scripts of conversations that are no text, too deep, too long, links in a circle, and directories."""
    bad: dict[str, bytes] = {
        "binary.yaml": os.urandom(20_000),
        "deep.yaml": b"- " * 50_000 + b"x",
        "flow.yaml": b"[" * 50_000,
        "tags.yaml": b"!!python/object/apply:os.system ['touch evil']\n",
        "long.yaml": b"- say: " + b"x" * 3_000_000 + b"\n",
        "keys.yaml": b"".join(b"? [a, {b: %d}]\n: 1\n" % n for n in range(3_000)),
        "names.script": b"> \x1b[2J\xe2\x80\xae\n< \x9b\n",
    }
    for name, octets in bad.items():
        (home / name).write_bytes(octets)
    (home / "circle.yaml").symlink_to(home / "circle.yaml")
    (home / "folder.yaml").mkdir()
    os.mkfifo(home / "fifo.yaml")
    for name in (*bad, "circle.yaml", "folder.yaml", "fifo.yaml", "missing.yaml", "/dev/zero"):
        status, text = _hark(home, "test", str(home / name))
        promise(status in (1, 2), f"{name}: status {status}: {text[-200:]}")
        promise(
            not any(character in text for character in "\x1b\u202e"), f"{name}: control characters: {text[-200:]!r}"
        )
    promise(not (home / "evil").exists(), "a script ran a command")
    return f"{len(bad) + 5} scripts, each refused"


ATTACKS = [
    _with_home("settings of every wrong kind", settings),
    _with_home("folders of sentences", locale_folders),
    _with_home("scripts of conversations", scripts),
    _with_home("stored sessions that are none", stored_session),
    _with_home("records of open turns that are none", open_turns),
    _with_home("traces that are none", traces),
    _with_home("a trace with control characters", trace_of_an_attacker),
    _with_home("tokens that are none", tokens),
    _with_home("links in the state directory", links),
    _with_home("FIFOs and devices", fifos),
    _with_home("a state directory open to all", open_directory),
    _with_home("a TLS key that others can read", readable_key),
    _with_home("YAML that explodes", yaml_bomb),
    _with_home("sentences that explode", sentences),
    _with_home("sounds that are none", sounds),
    _with_home("a full disk at start", full_at_start),
    Attack("files", "a disk that fills up meanwhile", full_meanwhile),
]
