"""`hark doctor` on what is stored of the default session, and on pipelines that lead nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from hark.app.diagnostics.advice import Inventory, advise
from hark.app.settings import AssistantTable, Settings
from hark.app.state.session_file import session_advice


def test_leftovers_of_routing_in_the_stored_session_are_named(tmp_path: Path) -> None:
    assert list(session_advice(tmp_path)) == []
    (tmp_path / "session.json").write_text('{"lang": "de-DE"}')
    assert list(session_advice(tmp_path)) == []
    (tmp_path / "session.json").write_text('{"pipeline": ["stop_high"], "blacklisted_skills": ["x"], "lang": "de-DE"}')
    [line] = session_advice(tmp_path)
    assert "session.json holds pipeline, blacklisted_skills" in line


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        ("{", ""),
        ("[]", "in place of a session"),
        ('{"session_id": "kitchen"}', "in place of the default one"),
        (f'{{"x": "{"y" * 100_000}"}}', "more than 65536 bytes"),
    ],
)
def test_a_stored_session_that_cannot_be_used_is_reported(tmp_path: Path, stored: str, why: str) -> None:
    (tmp_path / "session.json").write_text(stored)
    [line] = session_advice(tmp_path)
    assert "cannot be used" in line
    assert why in line
    assert "sets it aside" in line


def test_a_pipeline_that_leads_to_no_plugin_is_told() -> None:
    loaded = Inventory(["stop", "template"], {}, ["stop", "template"], ())
    lines = list(map(str, advise(Settings(assistant=AssistantTable(pipeline=("ghost", "ocp_high"))), loaded)))
    [told] = [line for line in lines if "leads to no loaded plugin" in line]
    assert "remove that line for the usual pipeline" in told
    assert "stop, template" in told
    assert list(advise(Settings(assistant=AssistantTable(pipeline=("stop_high", "padatious_low"))), loaded)) == []
