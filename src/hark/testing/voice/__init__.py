"""Sound and engines for tests: nothing is heard, and everything happens as it was written down."""
