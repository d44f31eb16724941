"""Where handlers run."""

from hark.act.handler_host import HandlerHost
from hark.act.tool_host import ToolHost

__all__ = ["HandlerHost", "ToolHost"]
