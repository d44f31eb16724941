"""What may be said to the assistant, as far as skills registered it: for recognisers that want to know."""
