"""Stands in for the plugin manager of OVOS: the bridge only needs it to be there."""
