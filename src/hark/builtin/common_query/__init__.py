"""Questions of fact, answered by the skill that knows best."""

from hark.builtin.common_query.plugin import CommonQuery

__all__ = ["CommonQuery"]
