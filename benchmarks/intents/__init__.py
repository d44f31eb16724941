"""How well and how fast sentences are understood: Hark's template engine beside others."""
