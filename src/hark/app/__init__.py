"""The composition root: settings, state, processes and the runtime they make up."""
