"""`hark completion`: scripts that complete commands and options in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final, NamedTuple

from hark import __version__
from hark.cli.common import OK

ABOUT: Final = """\
Prints a script that completes the commands and options of hark in your shell.

examples:
  eval "$(hark completion bash)"         in this shell; as a line of ~/.bashrc, in every one
  eval "$(hark completion zsh)"          as a line of ~/.zshrc, behind compinit
  hark completion fish | source          as a line of ~/.config/fish/config.fish
"""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("shell", choices=tuple(_SCRIPTS), metavar="SHELL", help="bash, zsh or fish")


def completion(options: argparse.Namespace) -> int:
    print(_SCRIPTS[options.shell]([*_words()]), end="")
    return OK


class _Word(NamedTuple):
    """A word that can follow a command."""

    command: str
    """As typed, without `hark`: empty, `run`, `token add`."""
    word: str
    about: str
    values: tuple[str, ...] | None = None
    """Of an option: what can follow it; None: nothing, it stands alone; empty: a file or anything else."""


def _words() -> Iterator[_Word]:
    from hark.cli.options import LANGUAGES
    from hark.cli.parser import COMMANDS, loaded, make_parser

    for typed, parser in loaded(make_parser(__version__)).items():
        command = typed.removeprefix("hark").strip()
        if command == "help":
            yield from (_Word(command, name, about) for name, about in COMMANDS.items())
        for action in parser._actions:
            about = action.help or ""
            if isinstance(action, argparse._SubParsersAction):
                for one in action._choices_actions:
                    yield _Word(command, one.dest, one.help or "")
            elif about == argparse.SUPPRESS:
                continue
            elif not action.option_strings:
                yield from (_Word(command, str(choice), about) for choice in action.choices or ())
            else:
                choices = LANGUAGES if action.dest == "lang" else action.choices or ()
                values = None if action.nargs == 0 else tuple(map(str, choices))
                for option in action.option_strings:
                    yield _Word(command, option, about, values)


_BASH: Final = """\
# Completes the commands and options of hark in bash; printed by: hark completion bash
_hark() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$command ${COMP_WORDS[i]}" in
@commands@
        esac
    done
    case "$command $before" in
@values@
    esac
    case "$command" in
@words@
    esac
    if [[ ${#COMPREPLY[@]} == 0 && $word != -* ]]; then COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _hark hark
"""


def _bash(words: list[_Word]) -> str:
    commands = sorted({word.command for word in words if word.command})
    by_command = {command: " ".join(one.word for one in words if one.command == command) for command in ["", *commands]}
    values = [one for one in words if one.values is not None]
    filled = {
        "commands": [f'            "{c if " " in c else f" {c}"}") command="{c}" ;;' for c in commands],
        "values": [
            f'        "{one.command} {one.word}") COMPREPLY=($(compgen {_compgen(one)} -- "$word")); return ;;'
            for one in values
        ],
        "words": [
            f"""        "{c}") COMPREPLY=($(compgen -W '{found}' -- "$word")) ;;""" for c, found in by_command.items()
        ],
    }
    script = _BASH
    for name, lines in filled.items():
        script = script.replace(f"@{name}@", "\n".join(lines))
    return script


def _compgen(option: _Word) -> str:
    return f"-W '{' '.join(option.values)}'" if option.values else "-f"


def _zsh(words: list[_Word]) -> str:
    return f"#compdef hark\nautoload -U +X bashcompinit && bashcompinit\n{_bash(words)}"


def _fish(words: list[_Word]) -> str:
    lines = [
        "# Completes the commands and options of hark in fish; printed by: hark completion fish",
        "complete -c hark -f",
    ]
    for one in words:
        seen = " and ".join(f"__fish_seen_subcommand_from {part}" for part in one.command.split())
        condition = f"-n '{seen.replace(' and ', '; and ')}'" if seen else "-n __fish_use_subcommand"
        about = one.about.replace("'", "\\'").replace("%(default)s", "").partition(";")[0]
        if one.word.startswith("--"):
            word = f"-l {one.word[2:]}"
        elif one.word.startswith("-"):
            word = f"-s {one.word[1:]}"
        else:
            word = f"-a {one.word}"
        values = "" if one.values is None else f" -x -a '{' '.join(one.values)}'" if one.values else " -r -F"
        lines.append(f"complete -c hark {condition} {word}{values} -d '{about}'")
    return "\n".join(lines) + "\n"


_SCRIPTS: Final = {"bash": _bash, "zsh": _zsh, "fish": _fish}
