"""Attacks on Hark by everything it reads: bus, broker, control socket, files and command line."""
