"""The server of the control socket."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final, Protocol

import msgspec

from hark import __version__
from hark.app.client import Client
from hark.app.control.protocol import (
    NAME,
    Accepted,
    Answer,
    DeviceSession,
    Ended,
    Examine,
    Examined,
    Explained,
    Forget,
    Forgotten,
    Ping,
    Pong,
    Request,
    RequestRefused,
    Say,
    SessionShown,
    SpokenText,
    Why,
    decode_request,
    line,
    short,
)
from hark.app.diagnostics.report import DoctorReport
from hark.app.state.directory import Locked, StateError, take_part
from hark.errors import UserError
from hark.model import Clock, MalformedMessage, Session
from hark.model.lang import canonical
from hark.spec import DEFAULT_SESSION_ID
from hark.trace import TraceRecord, render

log = logging.getLogger("hark.app")

_NEW: Final = f"{NAME}.new"
_LONGEST_REST: Final = 1.0
"""Seconds for which the next request of a client waits at most."""
_LONGEST_LINE: Final = 1_000_000
_QUEUE: Final = 512
"""Clients that may wait to be accepted; further ones try again."""


def listening(directory: Path) -> socket.socket:
    """The control socket of a state directory that this process has locked; raises `StateError`.

    A client that connects before the assistant is ready waits until it is. The socket of a killed process is replaced.
    Other users can never connect.
    """
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short(directory, len(_NEW)) as reachable:
            new = reachable / _NEW
            new.unlink(missing_ok=True)
            channel.bind(str(new))
            new.chmod(0o600)
            channel.listen(_QUEUE)
            new.replace(reachable / NAME)
    except OSError as error:
        channel.close()
        why = f"the control socket {directory / NAME} cannot be created: {error}"
        raise StateError(f"{why}; choose another directory with --state") from None
    return channel


class ControlledAssistant(Protocol):
    """An assistant as clients of the control socket use it."""

    session_prefix: str
    """The prefix of their session ids, which no other sessions on the bus have."""

    def open_client(self) -> AbstractAsyncContextManager[Client]:
        """A client of the assistant; raises `UserError` where a service that is needed to answer is missing."""

    async def find_trace(self, prefix: str) -> TraceRecord | None:
        """The trace of the turn with this `utterance_id`, else of the last one whose id begins with it."""

    def langs(self) -> frozenset[str]:
        """The languages it understands."""

    async def examine(self) -> DoctorReport:
        """The report of `hark doctor`."""

    async def device_session(self, *, reset: bool) -> Session:
        """The session of the device, made empty first if wanted; raises `UserError` where it cannot be reached."""

    async def forget(self, what: Forget) -> int:
        """Delete what is kept of turns; how many. Raises `UserError` or `OSError` where not all could be deleted."""


class ControlServer:
    """Answers requests. Nothing that a client sends, or leaves unread, disturbs the assistant."""

    def __init__(self, channel: socket.socket, directory: Path, assistant: ControlledAssistant) -> None:
        self._channel = channel
        self._directory = directory
        self._assistant = assistant
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_unix_server(
            self._serve, sock=self._channel, limit=_LONGEST_LINE, backlog=_QUEUE
        )

    async def close(self) -> None:
        (self._directory / NAME).unlink(missing_ok=True)
        if self._server is not None:
            self._server.close()
        for client in self._clients:
            client.cancel()
        if self._clients:
            await asyncio.gather(*self._clients, return_exceptions=True)
        self._channel.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._clients.add(task)
            task.add_done_callback(self._clients.discard)
        try:
            while (request := await reader.readline()).endswith(b"\n"):
                began = time.thread_time()
                await self._answer(request, writer)
                await writer.drain()
                # A client with many requests at once does not keep others waiting: it has at most half of the time.
                await asyncio.sleep(min(_LONGEST_REST, time.thread_time() - began))
        except ValueError:
            _send(writer, RequestRefused(f"a request has at most {_LONGEST_LINE} bytes"))
        except ConnectionError:
            log.debug("a client of the control socket disconnected")
        except asyncio.CancelledError:
            log.debug("the control socket was closed while a client waited")
        finally:
            writer.close()

    async def _answer(self, received: bytes, writer: asyncio.StreamWriter) -> None:
        try:
            request: Request = decode_request(received)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            _send(writer, RequestRefused(f"not a valid request: {error}"))
            return
        if isinstance(request, Ping):
            _send(writer, Pong(os.getpid(), __version__))
        elif isinstance(request, Why):
            _send(writer, await self._explained(request))
        elif isinstance(request, Examine):
            _send(writer, Examined(await self._assistant.examine()))
        elif isinstance(request, DeviceSession):
            _send(writer, await self._session(request))
        elif isinstance(request, Forget):
            _send(writer, await self._forget(request))
        else:
            await self._say(request, writer)

    async def _forget(self, request: Forget) -> Answer:
        try:
            return Forgotten(await self._assistant.forget(request))
        except (UserError, OSError) as error:  # a TimeoutError is an OSError
            return RequestRefused(str(error))

    async def _session(self, request: DeviceSession) -> Answer:
        try:
            session = await self._assistant.device_session(reset=request.reset)
        except UserError as error:
            return RequestRefused(str(error))
        return SessionShown(msgspec.Raw(msgspec.json.encode(session.wire())))

    async def _explained(self, request: Why) -> Answer:
        record = await self._assistant.find_trace(request.id)
        if record is None:
            what = f"whose id begins with {request.id}" if request.id else "yet"
            return RequestRefused(f"this assistant has had no turn {what}")
        return Explained(render(record), msgspec.Raw(msgspec.json.encode(record)))

    async def _say(self, request: Say, writer: asyncio.StreamWriter) -> None:
        langs = self._assistant.langs()
        if request.lang is not None and canonical(request.lang) not in langs:
            known = ", ".join(sorted(langs))
            _send(writer, RequestRefused(f"this assistant does not understand {request.lang}; it understands {known}"))
            return
        # Who may use the socket owns the device: what is asked for here belongs to the device, and rings there.
        session_id = DEFAULT_SESSION_ID
        if request.session is not None:
            session_id = f"{self._assistant.session_prefix}-{request.session}"
        try:
            async with self._assistant.open_client() as client:
                _send(writer, Accepted())
                turn = await client.ask(
                    request.utterance,
                    lambda text: _send(writer, SpokenText(text)),
                    lang=request.lang,
                    session_id=session_id,
                    intent=request.intent,
                )
        except UserError as error:
            _send(writer, RequestRefused(str(error)))
        except MalformedMessage as error:
            _send(writer, RequestRefused(f"not a valid utterance: {error}"))
        except Exception as error:
            log.exception("an utterance could not be sent to the assistant")
            _send(writer, RequestRefused(f"the turn failed: {type(error).__name__}: {error}"))
        else:
            _send(writer, Ended(turn.outcome, turn.utterance_id, turn.detail))


def _send(writer: asyncio.StreamWriter, answer: Answer) -> None:
    if not writer.is_closing():
        writer.write(line(answer))


PART: Final = "front"
"""The part of the state directory that is locked with the socket."""
RETRY: Final = 0.2
"""Seconds between two attempts to take a socket that another process has."""


class ControlSocket:
    """The control socket of a state directory that several processes share: only one of them serves it at a time.

    `take()`, then `await serve(...)` and `await close()`; or `serve_when_free` to wait until no other process has it.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock: int | None = None
        self._channel: socket.socket | None = None
        self._control: ControlServer | None = None
        self._waiting: asyncio.Task[None] | None = None

    @property
    def is_served(self) -> bool:
        """Whether this process answers the requests."""
        return self._control is not None

    def take(self) -> None:
        """Take the socket; clients that connect wait until it is served. Raises `Locked`, or `StateError`."""
        lock = take_part(self._directory, PART)
        try:
            self._channel = listening(self._directory)
        except StateError:
            os.close(lock)
            raise
        self._lock = lock

    async def serve(self, assistant: ControlledAssistant) -> None:
        """Answer requests on the socket, which was taken before."""
        if self._channel is not None:
            self._control = ControlServer(self._channel, self._directory, assistant)
            await self._control.start()

    def serve_when_free(self, assistant: ControlledAssistant, clock: Clock) -> None:
        """Take the socket as soon as no other process has it, and serve it."""
        self._waiting = asyncio.get_running_loop().create_task(self._wait(assistant, clock), name="control socket")

    async def close(self) -> None:
        """Stop serving, and release the socket."""
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.gather(self._waiting, return_exceptions=True)
        if self._control is not None:
            await self._control.close()
        self.leave()

    def leave(self) -> None:
        """Release the socket without waiting for clients, if this process has it."""
        if self._lock is None:
            return
        (self._directory / NAME).unlink(missing_ok=True)
        if self._channel is not None:
            self._channel.close()
        os.close(self._lock)  # last: the next process makes a socket of the same name
        self._lock = self._channel = self._control = None

    async def _wait(self, assistant: ControlledAssistant, clock: Clock) -> None:
        while True:
            try:
                self.take()
            except Locked:
                await clock.sleep(RETRY)
            except StateError as error:
                log.error("this process cannot be asked anything: %s", error)
                return
            else:
                await self.serve(assistant)
                return
