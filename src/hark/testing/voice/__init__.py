"""Sound and engines for tests of voice: no sound card, no models, and the same result each time."""
