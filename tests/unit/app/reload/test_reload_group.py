"""Which plugins are reloaded together, and which files belong to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hark.app.reload.reload_group import EntryPointSource, ReloadGroup, groups_of, plugin_sources, root_of, source_of
from hark.builtin import ClockSkill, Normalize, TemplateMatcher
from hark.hosting import PluginFile, Refusal


@pytest.mark.parametrize(
    ("module", "root"),
    [
        ("ed_module", "ed_module"),
        ("ed_pack.part", "ed_pack"),
        ("ed_shared.theirs.plugin", "ed_shared.theirs"),
        ("hark.builtin.clock", "hark.builtin"),
        ("no_such_package.at_all", "no_such_package"),
    ],
)
def test_the_root_is_the_outermost_package_of_the_author(site: Path, module: str, root: str) -> None:
    assert root_of(module) == root


def test_the_places_of_a_group_are_its_files_and_the_locale_folder_beside_a_module(site: Path) -> None:
    assert ReloadGroup("ed_pack", []).places == (site / "ed_pack",)
    assert ReloadGroup("ed_module", []).places == (site / "ed_module.py", site / "locale")
    assert ReloadGroup("no_such_module", []).places == ()
    assert ReloadGroup("sys", []).places == ()
    file = PluginFile(site / "ed_module.py")
    assert ReloadGroup(file.module, [file]).places == (site / "ed_module.py", site / "locale")
    to_come = PluginFile(site / "folder")
    assert ReloadGroup(to_come.module, [to_come]).places == (site / "folder",)


def test_plugins_that_come_with_hark_are_not_watched_where_they_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    import hark.builtin

    [place] = ReloadGroup("hark.builtin", []).places
    assert place == Path(hark.builtin.__file__).parent
    spec = hark.builtin.__spec__
    assert spec is not None
    monkeypatch.setattr(spec, "submodule_search_locations", ["/usr/lib/python3/site-packages/hark/builtin"])
    assert ReloadGroup("hark.builtin", []).places == ()


@pytest.mark.parametrize("made", [ClockSkill, Normalize, TemplateMatcher])
def test_a_class_is_made_again_as_if_an_entry_point_named_it(made: type) -> None:
    [again] = source_of(made).make()
    assert type(again) is made


def test_the_sources_are_those_of_an_ordinary_start(tmp_path: Path) -> None:
    found = list(plugin_sources(installed=False, files=[tmp_path / "a.py"]))
    assert not any(isinstance(source, Refusal) for source in found)
    *builtin, file = found
    assert all(isinstance(source, EntryPointSource) for source in builtin)
    assert isinstance(file, PluginFile)
    assert list(groups_of(builtin)) == ["hark.builtin"]  # type: ignore[arg-type]
