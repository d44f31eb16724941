"""Attacks on tokens and TLS, at a bus of its own where every client needs a token."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attacks.target import HARK, Attack, Target, descriptors, free_port, memory, promise
from attacks.wire import Line


class _Bus:
    """`hark bus` in a process of its own, with tokens."""

    def __init__(self, home: Path, *, tls: bool) -> None:
        self.port = free_port()
        scheme = "wss" if tls else "ws"
        self.url = f"{scheme}://127.0.0.1:{self.port}/core"
        self.places = ["--settings", str(home / "hark.toml"), "--state", str(home / "state")]
        lines = ["[bus]", f"port = {self.port}", "ask_everybody = true", "handshake = 1.0"]
        if tls:
            lines += ['remote_host = "127.0.0.1"', f"remote_port = {self.port}", f'certificate = "{home}/c.pem"']
            lines += [f'key = "{home}/k.pem"']
            lines[1] = f"port = {free_port()}"
        (home / "hark.toml").write_text("\n".join(lines) + "\n")
        self.token = self.hark("token", "add", "honest").split()[-1]
        self.process: subprocess.Popen[str]

    def hark(self, *words: str) -> str:
        done = subprocess.run([*HARK, *words, *self.places], capture_output=True, text=True, check=False, timeout=30)
        promise("Traceback" not in done.stderr, f"hark {words[0]} shows a traceback: {done.stderr[-300:]}")
        return done.stdout

    async def accepts(self, headers: bytes = b"", path: str = "/core") -> bool:
        line = await Line.open(self.url)
        try:
            return await line.ask(self.url, headers, path)
        except (OSError, TimeoutError):
            return False
        finally:
            await line.end()


@contextmanager
def _bus(*, tls: bool = False) -> Iterator[_Bus]:
    with tempfile.TemporaryDirectory(prefix="hark-tokens-") as home:
        if tls:
            _certificate(Path(home))
        bus = _Bus(Path(home), tls=tls)
        bus.process = subprocess.Popen([*HARK, "bus", *bus.places], stdout=subprocess.PIPE, text=True)
        try:
            assert bus.process.stdout is not None
            promise("listens" in bus.process.stdout.readline(), "the bus does not start")
            yield bus
            promise(bus.process.poll() is None, "the bus is gone")
        finally:
            bus.process.terminate()
            bus.process.wait(20)


def _certificate(home: Path) -> None:
    promise(shutil.which("openssl"), "openssl is not installed")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=hark"
    more = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(home / "k.pem"), "-out", str(home / "c.pem")]
    subprocess.run([*command.split(), *more], check=True, capture_output=True)
    (home / "k.pem").chmod(0o600)


async def almost_right(_target: Target) -> str:
    """A right token in other letters, cut, longer, in other places and twice; its hash; and after it was revoked."""
    with _bus() as bus:
        token = bus.token
        stored = (Path(bus.places[-1]) / "tokens.json", Path(bus.places[-1]) / "tokens.toml")
        hashes = [word for file in stored if file.is_file() for word in file.read_text().replace('"', " ").split()]
        bearer = "Authorization: Bearer "
        wrong: list[tuple[str, str]] = [
            ("", f"/core/{one}")
            for one in (
                token.swapcase(),
                token[:-1],
                token + "x",
                token[1:],
                f"x/{token}",
                f"{token}/..",
                f"..%2f{token}",
            )
        ]
        wrong += [
            (f"{bearer}{one}\r\n", "/core") for one in (token.upper() + "A", f'"{token}"', f"{token},x", *hashes[:20])
        ]
        wrong += [("", f"/core?token={token}"), ("", f"/core?{token}"), (f"Cookie: token={token}\r\n", "/core")]
        wrong += [(f"Authorization: Basic {token}\r\n", "/core"), (f"Sec-WebSocket-Protocol: {token}\r\n", "/core")]
        wrong += [("", f"/core/{'x' * 3_000}"), (f"{bearer}{'x' * 8_000}\r\n", "/core"), ("", "/core/\u00ff")]
        for headers, path in wrong:
            promise(not await bus.accepts(headers.encode("latin-1"), path), f"{headers!r} {path!r} was accepted")
        promise(await bus.accepts(f"{bearer}{token}\r\n".encode()), "the right token is refused")
        promise(await bus.accepts(b"", f"/core/{token}"), "the right token is refused after the path")
        line = await Line.open(bus.url)
        try:
            await line.ask(bus.url, f"{bearer}{token}\r\n".encode())
            bus.hark("token", "revoke", "honest")
            with suppress(OSError):
                async with asyncio.timeout(5):
                    while await line.reader.read(65_536):
                        pass
        except TimeoutError:
            promise(False, "a client stays connected whose token was revoked")
        finally:
            await line.end()
        promise(not await bus.accepts(f"{bearer}{token}\r\n".encode()), "a revoked token is accepted")
    return f"{len(wrong)} ways, each refused; revoked at once"


async def guessed(_target: Target) -> str:
    """2,000 wrong tokens: none is accepted, and the right one still is."""
    with _bus() as bus:
        inside = 0
        for at in range(0, 2_000, 100):
            tries = (bus.accepts(b"", f"/core/{at + n:043x}") for n in range(100))
            inside += sum(await asyncio.gather(*tries))
        promise(not inside, f"{inside} wrong tokens were accepted")
        promise(await bus.accepts(b"", f"/core/{bus.token}"), "the right token is refused")
    return "2,000 refused"


async def _with_tls(attack: Callable[[_Bus], Awaitable[str]]) -> str:
    with _bus(tls=True) as bus:
        before = memory(bus.process.pid), descriptors(bus.process.pid)
        outcome = await attack(bus)
        context = ssl.create_default_context(cafile=str(Path(bus.places[1]).parent / "c.pem"))
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection("127.0.0.1", bus.port, ssl=context)
            line = Line(reader, writer)
            header = f"Authorization: Bearer {bus.token}\r\n".encode()
            promise(await line.ask(bus.url, header), "an honest client is not accepted")
            writer.transport.abort()
        await asyncio.sleep(1.5)
        held = memory(bus.process.pid) - before[0]
        promise(held < 60, f"{held:.0f} MB are held")
        promise(descriptors(bus.process.pid) - before[1] < 10, "connections are left")
    return f"{outcome}; {held:+.1f} MB"


async def half_tls(_target: Target) -> str:
    """A port with TLS: plain requests, junk, and 200 handshakes that stop in the middle."""

    async def attack(bus: _Bus) -> str:
        hello = bytes.fromhex("1603010200010001fc0303") + b"x" * 40
        lines = [await Line.open(bus.url) for _ in range(200)]
        for number, line in enumerate(lines):
            line.writer.write((hello, b"GET /core HTTP/1.1\r\nHost: x\r\n\r\n", b"\x80" * 600, b"")[number % 4])
        await asyncio.sleep(3)
        left = 0
        for line in lines:
            with suppress(OSError, TimeoutError):
                await asyncio.wait_for(line.reader.read(65_536), 0.5)
            left += not line.is_ended
            await line.end()
        promise(not left, f"{left} half handshakes are still open")
        return "200 handshakes, all ended"

    return await _with_tls(attack)


async def old_tls(_target: Target) -> str:
    """Versions of TLS and ciphers that are not safe any more."""

    async def attack(bus: _Bus) -> str:
        tried = 0
        for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            with suppress(ssl.SSLError, ValueError):
                context.set_ciphers("ALL:@SECLEVEL=0")
                context.minimum_version, context.maximum_version = version, version
                tried += 1
                with suppress(OSError):
                    await asyncio.wait_for(asyncio.open_connection("127.0.0.1", bus.port, ssl=context), 5)
                    promise(False, f"{version.name} is accepted")
        return f"{tried} versions refused"

    return await _with_tls(attack)


ATTACKS = [
    Attack("tokens", "tokens that are almost right", almost_right),
    Attack("tokens", "2,000 guesses", guessed),
    Attack("tokens", "half TLS handshakes", half_tls),
    Attack("tokens", "old TLS", old_tls),
]
