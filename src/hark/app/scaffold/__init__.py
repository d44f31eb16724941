"""Writing the beginning of a plugin package."""

from hark.app.scaffold.names import Names
from hark.app.scaffold.package import KINDS, write

__all__ = ["KINDS", "Names", "write"]
