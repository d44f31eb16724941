"""The shape of the source tree: `python benchmarks/tree.py [--list] [--root src/hark]`.

Files, lines and the median are those of every `*.py` file but `__init__.py`. A class name exists twice when two modules
outside `bridges` each define a public class of that name at their top level. A module counts as imported by exactly one
other when one other module imports it or a name from it; packages' `__init__.py` files, which only offer it to others,
count as well, and so do imports inside functions. A gerund is a module name, or the last word of one, that ends in
"ing", but for nouns of the field and words that are no gerunds. The last three figures are also given for the core:
the services and what they are built of.
"""

from __future__ import annotations

import argparse
import ast
import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SMALL = 50
CORE = frozenset(
    ["spec", "model", "bus", "trace", "plugins", "hosting", "chains", "hear", "understand", "act", "speak", "skills"]
)
NOUNS = frozenset({"routing", "scoring", "hosting", "testing", "string", "thing", "ring", "ping", "setting"})


class Tree:
    """All modules below one package folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.everything = {self._name(path): path for path in sorted(root.rglob("*.py"))}
        self.modules = {name: path for name, path in self.everything.items() if path.name != "__init__.py"}
        self.lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in self.modules.items()}

    def _name(self, path: Path) -> str:
        parts = path.relative_to(self.root.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def twice(self) -> dict[str, list[str]]:
        """Public class names that more than one module defines, with those modules."""
        found: dict[str, list[str]] = defaultdict(list)
        for name, path in self.modules.items():
            if ".bridges." in f"{name}.":
                continue
            for node in ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(name)
        return {name: places for name, places in sorted(found.items()) if len(places) > 1}

    def small(self) -> list[str]:
        return [name for name, lines in self.lines.items() if lines < SMALL]

    def used_once(self) -> list[str]:
        """Modules that exactly one other module imports."""
        users: dict[str, set[str]] = defaultdict(set)
        for name, path in self.everything.items():
            for target in self._imports(path):
                if target != name:
                    users[target].add(name)
        return [name for name in self.modules if len(users[name]) == 1]

    def _imports(self, path: Path) -> Iterator[str]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (one.name for one in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module
                yield from (f"{node.module}.{one.name}" for one in node.names)

    def gerunds(self) -> list[str]:
        last_words = {name: name.rpartition(".")[2].rpartition("_")[2] for name in self.modules}
        return [name for name, word in last_words.items() if word.endswith("ing") and word not in NOUNS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent / "src" / "hark")
    parser.add_argument("--list", action="store_true", help="print the names behind the figures as well")
    options = parser.parse_args()
    tree = Tree(options.root.resolve())
    twice = tree.twice()
    named = {
        "public class names that exist twice": [f"{name}: {', '.join(places)}" for name, places in twice.items()],
        f"files under {SMALL} lines": tree.small(),
        "modules imported by exactly one other": tree.used_once(),
        "modules named by a gerund": tree.gerunds(),
    }
    print(f"{'files':40}{len(tree.lines):>8,}")
    print(f"{'lines':40}{sum(tree.lines.values()):>8,}")
    print(f"{'median lines of a file':40}{statistics.median_high(tree.lines.values()):>8,}")
    for label, names in named.items():
        core = [name for name in names if ":" not in name and name.split(".")[1] in CORE]
        print(f"{label:40}{len(names):>8,}" + (f"  ({len(core)} in the core)" if core else ""))
    for label, names in named.items() if options.list else ():
        print(f"\n{label}:", *names, sep="\n  ")


if __name__ == "__main__":
    main()
