"""What the assistant says when no plugin answered."""

from hark.builtin.remarks.plugin import Remarks

__all__ = ["Remarks"]
