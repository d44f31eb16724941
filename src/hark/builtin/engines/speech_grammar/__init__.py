"""A grammar of the sentences that skills registered, for recognisers."""
