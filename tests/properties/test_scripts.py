"""Scripts: whatever can be written is read as it is written, and nothing makes the reader stumble."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from hark.testing.scripts.errors import LineError, ScriptError
from hark.testing.scripts.parser import parse
from hark.testing.scripts.pattern import Pattern, plain

WORD = st.text("abcdefghijklmnopqrstuvwxyzäöüßéñçABC0123456789'-:,.!?", min_size=1, max_size=8).filter(
    lambda word: word.strip(".") and not word.startswith("#")
)
WORDS = st.lists(WORD, min_size=1, max_size=5).map(" ".join)
NAME = st.sampled_from(["item", "city", "größe", "x1"])


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """Text with everything that has a meaning in it."""
    parts = draw(
        st.lists(st.sampled_from(["word", "star", "choice", "optional", "name", "escaped"]), min_size=1, max_size=5)
    )
    written = {
        "word": lambda: draw(WORDS),
        "star": lambda: "*",
        "choice": lambda: f"({draw(WORDS)}|{draw(WORDS)})",
        "optional": lambda: f"[{draw(WORDS)}]",
        "name": lambda: f"{{{draw(NAME)}}}",
        "escaped": lambda: draw(st.sampled_from([r"\*", r"\(", r"\#", r"\{", r"\\"])),
    }
    # A line that begins so would be another kind of line.
    return f"so {' '.join(written[part]() for part in parts)}"


DEVICE = st.sampled_from(["", " (kitchen)", " (living room)"])
SPOKEN = WORDS.filter(lambda text: text not in ("...", "…"))


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A line as `str` writes it."""
    device = draw(DEVICE)
    return draw(
        st.one_of(
            SPOKEN.map(lambda text: f"user{device}: {text}"),
            patterns().map(lambda text: f"hark{device}: {text}"),
            patterns().map(lambda text: f"hark{device} asks: {text}"),
            patterns().map(lambda text: f"never: {text}"),
            st.sampled_from(
                [f"hark{device}: ...", f"hark{device} says nothing", "[restart]", f"language{device}: de-DE"]
            ),
            st.integers(1, 500)
            .map(lambda number: f"[{number} second{'s' * (number != 1)} later]")
            .filter(lambda line: int(re.findall(r"\d+", line)[0]) % 60 != 0),
            st.tuples(st.integers(0, 23), st.integers(0, 59)).map(lambda time: f"[at {time[0]:02}:{time[1]:02}]"),
            st.sampled_from(
                ["happens: a.skill:*", "never happens: ovos.stop", "happens: a.skill:b, size = (small|large)"]
            ),
        )
    )


@given(st.lists(lines(), min_size=1, max_size=8), st.sampled_from(["", "    ", "\t"]), st.sampled_from(["", "   # so"]))
def test_what_is_written_is_read_as_it_is_written(body: list[str], indent: str, comment: str) -> None:
    text = "== A conversation ==\nuser: begin\n" + "".join(f"{indent}{line}{comment}\n" for line in body)
    (conversation,) = parse(text).conversations
    written = [str(step) for step in conversation.steps]
    assert written == ["user: begin", *body]
    (again,) = parse("== A conversation ==\n" + "\n".join(written)).conversations
    assert again == conversation


@given(st.text(max_size=200) | st.lists(st.text(max_size=30) | lines(), max_size=6).map("\n".join))
def test_no_text_makes_the_reader_stumble(text: str) -> None:
    try:
        script = parse(text, "x.talk")
    except ScriptError as error:
        found = error.mistakes
    else:
        assert all(conversation.steps for conversation in script.conversations)
        return
    assert found
    assert all(0 <= mistake.line <= text.count("\n") + 1 and mistake.remedy for mistake in found)


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_pattern_stumbles_over_what_was_said(pattern: str, said: str) -> None:
    try:
        made = Pattern(pattern)
    except LineError:
        return
    made.match(said, {})


@given(st.text(max_size=80))
def test_what_hark_said_is_itself(said: str) -> None:
    escaped = re.sub(r"([\\*()\[\]{}|#])", r"\\\1", said)
    assert Pattern(escaped).match(said, {}) == {}
    assert plain(plain(said)) == plain(said)
