"""Skills that come with Hark, in six languages."""
