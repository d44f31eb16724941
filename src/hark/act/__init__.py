"""Where handlers run."""

from hark.act.handler_host import HandlerHost

__all__ = ["HandlerHost"]
