"""Voice: engines chosen by the settings, and the rooms that hear and speak with them."""
