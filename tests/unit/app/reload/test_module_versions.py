"""Two versions of the same modules side by side."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

from hark.app.reload.module_versions import ModuleImport, current_modules, install_modules
from hark.app.reload.reload_group import ReloadGroup


def importing(root: str, *modules: str) -> ModuleImport:
    return ModuleImport(root, modules, ReloadGroup(root, []).spec)


def test_a_new_version_is_beside_the_old_one_until_it_is_installed(site: Path) -> None:
    old = importlib.import_module("ed_pack")
    (site / "ed_pack" / "part.py").write_text("value = 2\n")
    version = importing("ed_pack", "ed_pack").run()
    assert sys.modules["ed_pack"] is old
    assert old.part.value == 1
    assert set(version) == {"ed_pack", "ed_pack.part"}
    install_modules("ed_pack", version)
    assert importlib.import_module("ed_pack.part").value == 2
    assert sys.modules["ed_pack.part"] is version["ed_pack"].part


def test_what_fails_is_kept_and_the_old_version_with_it(site: Path) -> None:
    importlib.import_module("ed_pack")
    before = current_modules("ed_pack")
    (site / "ed_pack" / "part.py").write_text("raise KeyboardInterrupt\n")
    work = importing("ed_pack", "ed_pack", "ed_pack.part")
    work.run()
    assert {name: type(error) for name, error in work.failed.items()} == {
        "ed_pack": KeyboardInterrupt,
        "ed_pack.part": KeyboardInterrupt,
    }
    assert current_modules("ed_pack") == before


def test_one_that_is_given_up_before_it_began_changes_nothing(site: Path) -> None:
    importlib.import_module("ed_pack")
    before, finders = current_modules("ed_pack"), list(sys.meta_path)
    work = importing("ed_pack", "ed_pack")
    work.give_up()
    assert work.run() == {}
    assert (current_modules("ed_pack"), sys.meta_path) == (before, finders)


def test_the_package_above_leads_to_the_version_that_is_installed(site: Path) -> None:
    theirs = importlib.import_module("ed_shared.theirs")
    version = importing("ed_shared.theirs", "ed_shared.theirs").run()
    assert sys.modules["ed_shared"].theirs is theirs
    install_modules("ed_shared.theirs", version)
    assert sys.modules["ed_shared"].theirs is version["ed_shared.theirs"] is not theirs


def test_an_extension_module_is_shared_by_both_versions(site: Path) -> None:
    from msgspec import _core as extension

    importlib.import_module("ed_pack")
    sys.modules["ed_pack.binary"] = extension
    version = importing("ed_pack", "ed_pack").run()
    assert version["ed_pack.binary"] is extension


def test_code_that_was_compiled_before_is_not_trusted(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    path = site / "ed_module.py"
    os.utime(path, (1_700_000_000, 1_700_000_000))
    importlib.import_module("ed_module")
    assert list(site.glob("__pycache__/ed_module.*"))
    path.write_text("value = 2\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert importing("ed_module", "ed_module").run()["ed_module"].value == 2
