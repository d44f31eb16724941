"""A Home Assistant of our own: started without a screen, set up by its API, with a lamp that can be switched."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import httpx
from websockets.asyncio.client import connect

from flow.hark_process import free_port

LAMP: Final = "light.desk_lamp"
_CONFIGURATION: Final = """
homeassistant:
  name: Home
  unit_system: metric
  time_zone: UTC
http:
  server_host: 127.0.0.1
  server_port: {port}
conversation:
input_boolean:
  lamp_power:
    name: Power of the lamp
light:
  - platform: template
    lights:
      desk_lamp:
        friendly_name: Desk lamp
        unique_id: desk_lamp
        value_template: "{{{{ is_state('input_boolean.lamp_power', 'on') }}}}"
        turn_on:
          action: input_boolean.turn_on
          target: {{entity_id: input_boolean.lamp_power}}
        turn_off:
          action: input_boolean.turn_off
          target: {{entity_id: input_boolean.lamp_power}}
"""
_STARTED: Final = 180.0
"""Seconds in which it has to answer; the first start makes its databases."""


class HomeAssistant:
    """Runs until the block is left."""

    def __init__(self, environment: Path, folder: Path) -> None:
        self._environment = environment
        self._folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = ""
        """A long-lived token, as a user makes one in the profile."""
        self._process: asyncio.subprocess.Process | None = None
        self._http = httpx.AsyncClient(base_url=self.url, timeout=30.0, trust_env=False)

    async def __aenter__(self) -> Self:
        (self._folder / "configuration.yaml").write_text(_CONFIGURATION.format(port=self.port))
        await self.start()
        try:
            await self._set_up()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        await self._http.aclose()

    async def start(self) -> None:
        """Start it and wait until it answers."""
        command = [str(self._environment / "bin" / "hass"), "--config", str(self._folder), "--skip-pip"]
        null = asyncio.subprocess.DEVNULL
        self._process = await asyncio.create_subprocess_exec(*command, stdout=null, stderr=null)
        async with asyncio.timeout(_STARTED):
            while True:
                if self._process.returncode is not None:
                    raise RuntimeError(f"Home Assistant ended: {self.log()}")
                with suppress(httpx.TransportError):
                    if (await self._http.get("/api/onboarding")).status_code == 200:
                        return
                await asyncio.sleep(0.2)

    async def stop(self) -> None:
        """End it."""
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            try:
                async with asyncio.timeout(30):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
                await self._process.wait()

    def log(self) -> str:
        """The end of its log."""
        path = self._folder / "home-assistant.log"
        return path.read_text()[-3000:] if path.exists() else "(no log)"

    async def state(self, entity: str) -> str:
        """The state of something in the house."""
        return str((await self._asked("GET", f"/api/states/{entity}"))["state"])

    async def has_state(self, entity: str, state: str) -> None:
        """Wait until something has this state."""
        for _ in range(200):
            if await self.state(entity) == state:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"{entity} is {await self.state(entity)}, not {state}")

    async def _set_up(self) -> None:
        """Make the first user, a token, and switch the MCP server on."""
        client = f"{self.url}/"
        person = {"client_id": client, "name": "Bo", "username": "bo", "password": "not a secret", "language": "en"}
        code = (await self._asked("POST", "/api/onboarding/users", person))["auth_code"]
        granted = {"grant_type": "authorization_code", "code": code, "client_id": client}
        answer = await self._http.post("/auth/token", data=granted)
        self.token = answer.raise_for_status().json()["access_token"]
        self.token = await self._long_lived()
        flow = await self._asked("POST", "/api/config/config_entries/flow", {"handler": "mcp_server"})
        chosen = {"llm_hass_api": "assist"}
        made = await self._asked("POST", f"/api/config/config_entries/flow/{flow['flow_id']}", chosen)
        assert made["type"] == "create_entry", made
        await self.has_state(LAMP, "off")

    async def _long_lived(self) -> str:
        async with connect(f"ws://127.0.0.1:{self.port}/api/websocket", proxy=None) as socket:
            await socket.recv()
            await socket.send(json.dumps({"type": "auth", "access_token": self.token}))
            await socket.recv()
            request = {"id": 1, "type": "auth/long_lived_access_token", "client_name": "Hark", "lifespan": 365}
            await socket.send(json.dumps(request))
            return str(json.loads(await socket.recv())["result"])

    async def _asked(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        answer = await self._http.request(method, path, json=body, headers=headers)
        return answer.raise_for_status().json()
