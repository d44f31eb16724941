"""Writing the beginning of a plugin package."""

from hark.tools.scaffold.names import PackageNames
from hark.tools.scaffold.package import KINDS, write

__all__ = ["KINDS", "PackageNames", "write"]
