"""What can be wrong with what a skill says it understands."""


class MalformedIntent(ValueError):
    """Something a skill declares cannot be registered; the text names the method, or file, line and column, and why."""
