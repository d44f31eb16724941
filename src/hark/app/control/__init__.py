"""The control socket of a running assistant, for other processes of its owner: a Unix socket in the state directory."""
