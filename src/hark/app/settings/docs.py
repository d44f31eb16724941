"""The docstrings under the fields of a class, which Python forgets: read from its source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise


def field_docs(shape: type) -> dict[str, str]:
    """What the docstring under each field says, its own and inherited ones; nothing where there is no source."""
    docs: dict[str, str] = {}
    for owner in reversed(shape.__mro__):
        docs |= _own_docs(owner)
    return docs


def _own_docs(shape: type) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(shape)))
    except (OSError, TypeError, SyntaxError):
        return {}
    body = tree.body[0].body if tree.body and isinstance(tree.body[0], ast.ClassDef) else []
    docs = {}
    for field, below in pairwise(body):
        named = isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if named and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            docs[field.target.id] = inspect.cleandoc(str(below.value.value))  # type: ignore[attr-defined]
    return docs
