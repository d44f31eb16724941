"""Converting between Hark's locale folders and the sentences of hassil, which Home Assistant uses."""
