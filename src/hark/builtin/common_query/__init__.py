"""Questions of fact, answered by whoever knows best."""

from hark.builtin.common_query.plugin import CommonQuery

__all__ = ["CommonQuery"]
