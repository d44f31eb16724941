"""Pocketsphinx (extra `pocketsphinx`; BSD): a recogniser of registered sentences, and a keyword spotter."""
