"""The composition root: settings, command line, and the house they put together."""
