"""From text to a script."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from hark.app.script.heads import KEYS, with_key
from hark.app.script.line import read_step
from hark.app.script.mistakes import Mistake, ScriptError, Wrong
from hark.app.script.script import Conversation, Head, Script
from hark.app.script.steps import Answers, Happens, Says, Step

_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#.*")
_TITLE: Final = re.compile(r"==+(.*?)==+")
_KEY: Final = re.compile(rf"({'|'.join(KEYS)})\s*:\s*(.*)", re.IGNORECASE)


def read_script(path: Path) -> Script:
    """The script in a file; raises `ScriptError`."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ScriptError(str(path), [Mistake(0, "there is no such file", "name a script")]) from None
    except OSError as error:
        raise ScriptError(str(path), [Mistake(0, f"it cannot be read: {error.strerror}", "name a script")]) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ScriptError(str(path), [Mistake(line, "this is not UTF-8", "save the file in UTF-8")]) from None
    return parse(text, str(path))


def parse(text: str, where: str = "script") -> Script:
    """The script in a text; raises `ScriptError` with everything that is wrong with it."""
    reader = _Reader()
    lines = tuple(text.split("\n"))
    for number, line in enumerate(lines, 1):
        told = _COMMENT.sub("", line).strip()
        try:
            if told:
                reader.read(number, told)
        except Wrong as wrong:
            reader.mistakes.append(Mistake(number, wrong.wrong, wrong.remedy))
    reader.end()
    if not reader.conversations and not reader.mistakes:
        reader.mistakes.append(Mistake(0, "nobody says anything", "write a line such as user: what time is it"))
    if reader.mistakes:
        raise ScriptError(where, reader.mistakes)
    return Script(where, lines, tuple(reader.conversations))


class _Reader:
    """Takes line after line, and sorts them into conversations."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []
        self.conversations: list[Conversation] = []
        self._common = Head()
        """The head of the file, which holds for every conversation in it."""
        self._titles: set[str] = set()
        self._begin("", 1)

    def read(self, number: int, line: str) -> None:
        """Take a line that is not empty; raises `Wrong`."""
        title = _TITLE.fullmatch(line)
        if title is not None:
            self.end()
            self._begin(title[1].strip(), number)
            if not self._name or self._name in self._titles:
                raise Wrong("a conversation needs a name of its own", "write one as in == Adding milk ==")
            self._titles.add(self._name)
            return
        key = _KEY.fullmatch(line)
        if key is not None and (key[1].lower() != "language" or not self._steps):
            self._head_line(key[1].lower(), key[2])
            return
        step = read_step(number, line)
        self._check_names(step)
        self._steps.append(step)

    def end(self) -> None:
        """Close the conversation that is open; what stands before the first title is the head of all."""
        if self._steps:
            self.conversations.append(Conversation(self._name, self._head, tuple(self._steps), self._began))
        elif not self._name:
            self._common = self._head
        elif not self.mistakes:
            wrong = f"in the conversation {self._name!r} nobody says anything"
            self.mistakes.append(Mistake(self._began, wrong, "write it, or take the title out"))

    def _begin(self, name: str, number: int) -> None:
        self._name = name
        self._began = number
        self._head = self._common
        self._keys: set[str] = set()
        self._steps: list[Step] = []
        self._captured: set[str] = set()

    def _head_line(self, key: str, text: str) -> None:
        if self._steps:
            raise Wrong(f"{key}: stands in the middle", "put it at the head, before anything is said")
        if key in self._keys:
            raise Wrong(f"{key}: is said twice", "take one of the two lines out")
        self._keys.add(key)
        self._head = with_key(self._head, key, text)

    def _check_names(self, step: Step) -> None:
        """What is said may use only what was captured before."""
        if isinstance(step, Says):
            for name in sorted(step.text.names - self._captured):
                remedy = "capture it in a line hark: before this one, or write \\{ for a brace"
                raise Wrong(f"nothing was captured as {{{name}}}", remedy)
        elif isinstance(step, Answers):
            self._captured |= step.text.names
        elif isinstance(step, Happens) and not step.never:
            self._captured |= {name for _, value in step.values for name in value.names}
