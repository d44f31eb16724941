"""Voice: engines chosen by the settings, and the services that use them."""
