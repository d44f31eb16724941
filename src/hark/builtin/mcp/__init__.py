"""MCP servers as toolboxes."""

from hark.builtin.mcp.plugin import McpServers

__all__ = ["McpServers"]
