"""Sending a copy of each recorded command to another program, over NATS or Redis."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Protocol

from msgspec import Meta

from hark.builtin.engines.extras import need
from hark.model.wav import write_wav
from hark.plugins import Audio, AudioTransformer, Ctx

_AGAIN: Final = 5.0
"""Seconds until a broker that could not be reached is tried again."""


class SoundBroker(Protocol):
    """Where copies go."""

    async def send(self, subject: str, sound: bytes, session_id: str) -> None:
        """Send one; raises whatever the library raises."""

    async def close(self) -> None:
        """Disconnect."""


class NatsSound:
    """Publishes to a subject of NATS; the header `Session` names the session."""

    def __init__(self, url: str) -> None:
        self._library = need("nats", "nats")
        self._url = url
        self._client: Any = None

    async def send(self, subject: str, sound: bytes, session_id: str) -> None:
        if self._client is None:
            # The library tries for two minutes; here a later copy tries again.
            connecting = self._library.connect(self._url, allow_reconnect=False, connect_timeout=2, error_cb=_ignore)
            try:
                self._client = await asyncio.wait_for(connecting, 2)
            except TimeoutError:
                raise ConnectionError(f"{self._url} does not answer") from None
        headers = {"Session": session_id, "Content-Type": "audio/wav"}
        await self._client.publish(subject, sound, headers=headers)
        await self._client.flush(2)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


class RedisSound:
    """Publishes to a channel of Redis."""

    def __init__(self, url: str) -> None:
        self._library = need("redis.asyncio", "redis")
        self._url = url
        self._client: Any = None

    async def send(self, subject: str, sound: bytes, session_id: str) -> None:  # noqa: ARG002 - a channel has no headers
        if self._client is None:
            self._client = self._library.from_url(self._url, socket_connect_timeout=2)
        await self._client.publish(subject, sound)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


async def _ignore(_error: Exception) -> None:
    """The library logs a traceback otherwise; `send` raises what matters."""


class PublishedSound(AudioTransformer):
    """Sends a copy of each command to NATS or Redis, as a WAV file, and never waits for it.

    A copy that cannot be sent is tried again; when several wait, the oldest are dropped.
    """

    id = "publish"
    priority = 10
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """Where copies go."""

        service: Literal["nats", "redis"] = "nats"
        """The broker; NATS needs the extra "nats", Redis the extra "redis"."""
        url: str = ""
        """Its address; empty: nats://127.0.0.1:4222 or redis://127.0.0.1:6379."""
        subject: str = "hark.sound"
        """The subject of NATS, or the channel of Redis."""
        most: Annotated[int, Meta(ge=1, le=1_000)] = 16
        """Copies that may wait for the broker."""

    settings: Settings

    async def start(self) -> None:
        url = self.settings.url
        self._broker: SoundBroker = (
            NatsSound(url or "nats://127.0.0.1:4222")
            if self.settings.service == "nats"
            else RedisSound(url or "redis://127.0.0.1:6379")
        )
        self._waiting: deque[tuple[Audio, str]] = deque(maxlen=self.settings.most)
        self._filled = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._failure = ""
        self.host.task(self._send_all(), "publishing sound")

    async def stop(self) -> None:
        await self._broker.close()

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        self._waiting.append((audio, ctx.session.session_id))
        self._loop.call_soon_threadsafe(self._filled.set)
        return audio

    def problem(self) -> str:
        return self._failure

    async def _send_all(self) -> None:
        while True:
            await self._filled.wait()
            self._filled.clear()
            while self._waiting:
                audio, session_id = self._waiting[0]
                try:
                    await self._broker.send(self.settings.subject, write_wav(audio), session_id)
                except Exception as error:  # noqa: BLE001 - each library has its own kinds of error
                    await self._failed(error)
                else:
                    self._failure = ""
                    if self._waiting and self._waiting[0][0] is audio:
                        self._waiting.popleft()

    async def _failed(self, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        if not self._failure:
            self.host.log.warning("%s cannot be reached: %s", self.settings.service, reason)
        self._failure = f"{self.settings.service} cannot be reached: {reason}; start it, or correct url"
        await self._broker.close()
        again = asyncio.Event()
        self.host.after(_AGAIN, lambda: self._loop.call_soon_threadsafe(again.set))
        await again.wait()
