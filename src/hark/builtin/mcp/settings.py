"""The settings of MCP servers: how one is started or reached, and which of its tools are used."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

from hark.builtin.local_network import is_local, is_secret


@dataclass(frozen=True)
class McpServer:
    """The table `[plugins.mcp.servers.<name>]`: a command that is started here, or the URL of a server."""

    command: str = ""
    """The program of a server that is started here and spoken to by its standard input and output."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: dict[str, str] = field(default_factory=dict)
    """Its environment, beside PATH, HOME and the like: nothing else of ours is passed on."""
    cwd: str = ""
    """The folder it is started in."""
    url: str = ""
    """Or the URL of a server that runs."""
    transport: Literal["http", "sse"] = "http"
    """How that server speaks: streamable HTTP, or the older SSE."""
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of requests to it."""
    token_file: str = ""
    """A file with a token, which is sent as `Authorization: Bearer ...`."""
    token_variable: str = ""
    """Or the environment variable that holds it."""
    only: tuple[str, ...] = ()
    """If any: the tools that are used; `*` is any text."""
    never: tuple[str, ...] = ()
    """Tools that are not used."""
    dangerous: tuple[str, ...] = ()
    """Tools that a persona asks the user about before it calls them, beside those that the server calls destructive."""
    timeout: float = 30.0
    """Seconds that a call may take."""
    connect_timeout: float = 20.0
    """Seconds in which the server has to be ready."""

    def problem(self) -> str:
        """What is wrong with these settings; empty if nothing is."""
        if bool(self.command) == bool(self.url):
            return "it needs either a command or a url"
        parts = urlsplit(self.url)
        if self.url and (parts.scheme not in ("http", "https") or not parts.hostname):
            return f"{self.url!r} is no http or https URL"
        named = [*self.headers, *(name for name, _ in parse_qsl(parts.query))]
        sends_secret = self.token_file or self.token_variable or any(map(is_secret, named))
        if sends_secret and parts.scheme == "http" and not is_local(parts.hostname or ""):
            return "its token would be sent unencrypted over the network; use an https URL"
        return ""

    @property
    def may_speak_sse(self) -> bool:
        """Whether the URL looks like that of a server that speaks SSE, although that is not set."""
        return self.transport == "http" and urlsplit(self.url).path.rstrip("/").endswith("/sse")

    def token(self) -> str:
        """The token for its requests; raises `OSError` or `LookupError` where there should be one and is none."""
        if self.token_variable:
            token = os.environ.get(self.token_variable, "")
            if not token:
                raise LookupError(f"the environment variable {self.token_variable} holds no token")
            return token.strip()
        return Path(self.token_file).expanduser().read_text().strip() if self.token_file else ""
