"""The settings of personas: where models are, and who answers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Final
from urllib.request import ProxyHandler, build_opener

from hark.builtin.persona.chat import ModelEndpoint
from hark.builtin.persona.tools import ToolLimits
from hark.plugins import Plugin
from hark.plugins.engines import Unavailable

PRESETS: Final[Mapping[str, str]] = {
    "ollama": "http://127.0.0.1:11434/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "vllm": "http://127.0.0.1:8000/v1",
    "lm-studio": "http://127.0.0.1:1234/v1",
}
"""Local servers by their name, at the address where each listens unless told otherwise."""


def running_presets(seconds: float = 0.3) -> dict[str, list[str]]:
    """The local servers that answer on this machine within `seconds`, each with its models; for `hark setup`."""
    with ThreadPoolExecutor(len(PRESETS)) as threads:
        found = zip(PRESETS, threads.map(lambda url: _models_at(url, seconds), PRESETS.values()), strict=True)
        return {name: models for name, models in found if models is not None}


def _models_at(url: str, seconds: float) -> list[str] | None:
    # Not through a proxy: these are on this machine.
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(f"{url}/models", timeout=seconds) as response:
            return [str(model["id"]) for model in json.loads(response.read(1_000_000))["data"] or ()]
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return None


@dataclass(frozen=True)
class OnePersona:
    """One persona: the table `[plugins.persona.personas.<name>]`."""

    prompt: str = ""
    """What it is told about itself, after the general part."""
    model: str = ""
    """The model, if it is another one."""
    tags: tuple[str, ...] = ()
    """What it is for, for programs that choose one."""


@dataclass(frozen=True)
class SecondEndpoint:
    """The table `[plugins.persona.second]`: a model that answers when the first cannot."""

    endpoint: str = ""
    model: str = ""
    key_file: str = ""
    key_variable: str = ""


@dataclass(frozen=True)
class PersonaSettings(Plugin.Settings):
    endpoint: str = ""
    """Where the model is: "ollama", "llama.cpp", "vllm", "lm-studio", or the URL of an OpenAI-compatible server,
    such as "http://127.0.0.1:11434/v1". Everything that the model answers is sent there.
    """
    model: str = ""
    """The name of the model; local servers with one model need none."""
    key_file: str = ""
    """A file with the key of a hosted model."""
    key_variable: str = ""
    """Or the environment variable that holds it."""
    second: SecondEndpoint = field(default_factory=SecondEndpoint)
    """Another endpoint, which answers when the first cannot: a table with endpoint, model, key_file, key_variable."""
    default: str = "hark"
    """The persona that answers what nothing else did, when none was summoned."""
    personas: dict[str, OnePersona] = field(default_factory=lambda: {"hark": OnePersona()})
    """The personas by name; each is a table with prompt, model and tags."""
    answers_the_rest: bool = True
    """Whether it answers what nothing else did without being summoned: the entry persona_fallback of the pipeline."""
    prompt: str = (
        "You are {persona}, a voice assistant. Your answers are spoken, so keep them short: one to three sentences, "
        "no lists, no headings, no links. Answer in the language with the tag {lang}. It is {time} on {date}{place}. "
        "If you do not know something, say so.{skills}"
    )
    """What every persona is told first; {persona}, {lang}, {time}, {date}, {place} and {skills} are filled in."""
    private_skills: tuple[str, ...] = ()
    """Skills of which nothing is sent to the model, not even what they can do."""
    memory_turns: int = 20
    """Exchanges that are remembered in a session."""
    memory_characters: int = 20_000
    """Characters of them."""
    longest_answer: int = 4_000
    """Characters of an answer; more is cut off."""
    connect_timeout: float = 5.0
    """Seconds in which the endpoint has to accept a connection."""
    stall_timeout: float = 30.0
    """Seconds within which the next piece of an answer has to come."""
    answer_timeout: float = 300.0
    """Seconds for a whole answer."""
    query_budget: float = 20.0
    """Seconds that an answer to ovos.persona.query may take."""
    tools: ToolLimits = field(default_factory=ToolLimits)
    """How much tools may do for one answer: a table with rounds, calls, seconds and characters."""

    def endpoints(self) -> list[ModelEndpoint]:
        """The endpoints, first choice first. Raises `Unavailable` where one cannot be used as it is configured."""
        second = self.second
        given = (
            (self.endpoint, self.model, self.key_file, self.key_variable),
            (second.endpoint, second.model, second.key_file, second.key_variable),
        )
        found = [self._endpoint(url, model, _key(file, name)) for url, model, file, name in given if url]
        for endpoint in found:
            if problem := endpoint.problem():
                raise Unavailable(problem, "correct [plugins.persona] in the settings file")
        return found

    def _endpoint(self, url: str, model: str, key: str) -> ModelEndpoint:
        return ModelEndpoint(
            PRESETS.get(url.strip().lower(), url.strip()),
            model,
            key,
            connect_timeout=self.connect_timeout,
            stall_timeout=self.stall_timeout,
            time_limit=self.answer_timeout,
            longest=self.longest_answer,
        )


def _key(key_file: str, key_variable: str) -> str:
    """The key of an endpoint. Raises `Unavailable` when there should be one and there is none."""
    if key_variable:
        key = os.environ.get(key_variable, "").strip()
        if not key:
            raise Unavailable(f"the environment variable {key_variable} holds no key", f"export {key_variable}=...")
    elif key_file:
        try:
            key = Path(key_file).expanduser().read_text().strip()
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise Unavailable(f"the key file {key_file} cannot be read: {reason}", "write the key into it") from None
        if not key:
            raise Unavailable(f"the key file {key_file} is empty", "write the key into it")
    else:
        return ""
    if not key.isascii() or not key.isprintable() or " " in key:
        where = key_variable or key_file
        raise Unavailable(f"what {where} holds is not one key", "it has to be the key alone, on one line")
    return key
