"""Pocketsphinx (extra `pocketsphinx`; BSD): a recogniser told by the skills what may be said, and a keyword spotter."""
