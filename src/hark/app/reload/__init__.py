"""Reload plugins and settings while the assistant runs: `hark run --dev`, and `Runtime.reload`."""
