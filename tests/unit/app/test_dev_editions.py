"""Two editions of the same modules side by side."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hark.app.reload.module_versions import ModuleImport, current_modules, install_modules
from hark.app.reload.reload_group import EntryPointSource, ReloadGroup, groups_of, plugin_sources, root_of, source_of
from hark.builtin import ClockSkill, Normalize, TemplateMatcher
from hark.hosting import PluginFile, Refusal


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that Python imports from: a package, a module, and a package in a name that many share."""
    for name, text in {
        "ed_pack/__init__.py": "from . import part\n",
        "ed_pack/part.py": "value = 1\n",
        "ed_module.py": "value = 1\n",
        "ed_shared/theirs/__init__.py": "",
        "ed_shared/theirs/plugin.py": "value = 1\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("ed_")]:
        del sys.modules[name]


def printing(root: str, *modules: str) -> ModuleImport:
    return ModuleImport(root, modules, ReloadGroup(root, []).spec)


def test_a_new_edition_is_beside_the_old_one_until_it_is_installed(site: Path) -> None:
    old = importlib.import_module("ed_pack")
    (site / "ed_pack" / "part.py").write_text("value = 2\n")
    edition = printing("ed_pack", "ed_pack").run()
    assert sys.modules["ed_pack"] is old
    assert old.part.value == 1
    assert set(edition) == {"ed_pack", "ed_pack.part"}
    install_modules("ed_pack", edition)
    assert importlib.import_module("ed_pack.part").value == 2
    assert sys.modules["ed_pack.part"] is edition["ed_pack"].part


def test_what_fails_is_kept_and_the_old_edition_with_it(site: Path) -> None:
    importlib.import_module("ed_pack")
    before = current_modules("ed_pack")
    (site / "ed_pack" / "part.py").write_text("raise KeyboardInterrupt\n")
    work = printing("ed_pack", "ed_pack", "ed_pack.part")
    work.run()
    assert {name: type(error) for name, error in work.failed.items()} == {
        "ed_pack": KeyboardInterrupt,
        "ed_pack.part": KeyboardInterrupt,
    }
    assert current_modules("ed_pack") == before


def test_one_that_is_given_up_before_it_began_changes_nothing(site: Path) -> None:
    importlib.import_module("ed_pack")
    before, finders = current_modules("ed_pack"), list(sys.meta_path)
    work = printing("ed_pack", "ed_pack")
    work.give_up()
    assert work.run() == {}
    assert (current_modules("ed_pack"), sys.meta_path) == (before, finders)


def test_the_package_above_leads_to_the_edition_that_is_installed(site: Path) -> None:
    theirs = importlib.import_module("ed_shared.theirs")
    edition = printing("ed_shared.theirs", "ed_shared.theirs").run()
    assert sys.modules["ed_shared"].theirs is theirs
    install_modules("ed_shared.theirs", edition)
    assert sys.modules["ed_shared"].theirs is edition["ed_shared.theirs"] is not theirs


def test_a_module_of_c_is_shared_by_both_editions(site: Path) -> None:
    import _json

    importlib.import_module("ed_pack")
    sys.modules["ed_pack.binary"] = _json
    edition = printing("ed_pack", "ed_pack").run()
    if _json.__spec__.origin == "built-in":  # a Python that has it inside
        pytest.skip("no module of C to try it with")
    assert edition["ed_pack.binary"] is _json


def test_code_that_was_compiled_before_is_not_trusted(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    path = site / "ed_module.py"
    os.utime(path, (1_700_000_000, 1_700_000_000))
    importlib.import_module("ed_module")
    assert list(site.glob("__pycache__/ed_module.*"))
    path.write_text("value = 2\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert printing("ed_module", "ed_module").run()["ed_module"].value == 2


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


def test_the_places_of_a_unit_are_its_files_and_the_locale_folder_beside_a_module(site: Path) -> None:
    assert ReloadGroup("ed_pack", []).places == (site / "ed_pack",)
    assert ReloadGroup("ed_module", []).places == (site / "ed_module.py", site / "locale")
    assert ReloadGroup("no_such_module", []).places == ()
    assert ReloadGroup("sys", []).places == ()
    file = PluginFile(site / "ed_module.py")
    assert ReloadGroup(file.module, [file]).places == (site / "ed_module.py", site / "locale")
    to_come = PluginFile(site / "folder")
    assert ReloadGroup(to_come.module, [to_come]).places == (site / "folder",)


def test_plugins_of_ours_are_watched_only_where_somebody_edits_them(monkeypatch: pytest.MonkeyPatch) -> None:
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
    *ours, file = found
    assert all(isinstance(source, EntryPointSource) for source in ours)
    assert isinstance(file, PluginFile)
    assert list(groups_of(ours)) == ["hark.builtin"]  # type: ignore[arg-type]
