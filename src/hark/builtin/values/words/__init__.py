"""The tables, a module for each language. Patterns hold number words as figures, no accents and no apostrophes."""
