"""The files of a new plugin package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from hark.errors import UserError
from hark.tools.scaffold.names import PackageNames


class PackageKind(NamedTuple):
    """What one kind of plugin begins with."""

    group: str
    code: str
    test: str
    files: Mapping[str, str] = MappingProxyType({})
    """What else lies beside the code, by its path from there."""


_SKILL: Final = PackageKind(
    "hark.skill",
    '''"""A skill for Hark."""

from hark.plugins import Turn
from hark.skills import Skill, intent


class {title}(Skill):
    """Answers when it is greeted. What people say, and what it says, is in the folder locale."""

    id = "{id}"

    @intent(file="greet")
    def greet(self, turn: Turn) -> None:
        """Say hello to somebody."""
        turn.say("hello", name=turn.slots["name"])
''',
    """from hark.testing import Assistant

from {module} import {title}


async def test_it_greets() -> None:
    async with Assistant({title}()) as assistant:
        [spoken] = await assistant.hears("greet anna")
        assert "anna" in spoken
""",
    {
        "locale/en-US/greet.intent": "(greet|welcome) {{name}}\nsay (hi|hello) to {{name}}\n",
        "locale/en-US/hello.dialog": "# They take turns.\nHello, {{name}}.\nNice to meet you, {{name}}.\n",
    },
)

_TRANSFORMER: Final = PackageKind(
    "hark.transformer.utterance",
    '''"""An utterance transformer for Hark."""

from hark.plugins import Ctx, UtteranceTransformer


class {title}(UtteranceTransformer):
    """Leaves out what people say to be polite."""

    id = "{id}"
    priority = 50
    quick = True  # pure, no I/O, well under a millisecond

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        """The candidates without "please"."""
        return [" ".join(text.replace("please", " ").split()) for text in utterances]
''',
    """from hark.testing import Assistant

from {module} import {title}


async def test_it_leaves_out_please() -> None:
    async with Assistant({title}()) as assistant:
        await assistant.hears("please sing")
        assert assistant.of("ovos.intent.unmatched")[0].data["utterances"] == ("sing",)
""",
)

_PIPELINE: Final = PackageKind(
    "hark.pipeline",
    '''"""A pipeline plugin for Hark."""

from collections.abc import Sequence

from hark.plugins import Declined, Match, PipelinePlugin, Session, Turn, handles


class {title}(PipelinePlugin):
    """Claims what begins with "echo"."""

    id = "{id}"
    quick = True  # pure, no I/O, well under a millisecond

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | Declined:
        """A claim, or the reason there is none."""
        for text in utterances:
            first, _, rest = text.partition(" ")
            if first == "echo" and rest:
                return self.claim("echo", lang=lang, utterance=text, slots={{"text": rest}})
        return Declined("it does not begin with echo")

    @handles("echo")
    def echo(self, turn: Turn) -> str:
        """Say it again."""
        return turn.slots["text"]
''',
    """from hark.testing import Assistant

from {module} import {title}


async def test_it_echoes() -> None:
    async with Assistant({title}()) as assistant:
        assert await assistant.hears("echo hello there") == ["hello there"]
        assert await assistant.hears("hello there") == []
""",
)

KINDS: Final = {"skill": _SKILL, "transformer": _TRANSFORMER, "pipeline": _PIPELINE}

_PROJECT: Final = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{package}"
version = "0.1.0"
description = "A plugin for Hark."
requires-python = ">=3.11"
dependencies = ["hark"]

[project.optional-dependencies]
dev = ["pytest>=8", "pytest-asyncio>=0.25"]

[project.entry-points."{group}"]
{module} = "{module}:{title}"

[tool.pytest.ini_options]
asyncio_mode = "auto"
asyncio_default_fixture_loop_scope = "function"
"""

_README: Final = """# {package}

A plugin for Hark.

    pip install -e '.[dev]'     # from here; Hark finds it by its entry point
    pytest
    hark doctor                 # is it loaded?
{more}"""

_ASKED: Final = """
A pipeline plugin is asked once the settings name it:

    [assistant]
    pipeline = ["{id}", "template"]
"""


def write(kind: str, names: PackageNames, into: Path) -> list[Path]:
    """Write a package into the new folder `into`; the files, in the order they are best read."""
    made = KINDS[kind]
    if into.exists():
        raise UserError(f"{into} is there already; choose another name, or another folder with --into")
    words = {**names._asdict(), "group": made.group}
    more = _ASKED.format(**words) if kind == "pipeline" else ""
    module = into / "src" / names.module
    files = {
        module / "__init__.py": made.code.format(**words),
        **{module / path: text.format(**words) for path, text in made.files.items()},
        into / "tests" / f"test_{names.module}.py": made.test.format(**words),
        into / "pyproject.toml": _PROJECT.format(**words),
        into / "README.md": _README.format(**words, more=more),
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(files)
