"""TODO: hark.tools."""
