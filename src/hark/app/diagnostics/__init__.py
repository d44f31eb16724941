"""`hark doctor`: the loaded plugins, the order in which they run, and the plugins that are not loaded, with reasons.

Nothing is imported here: a command that only asks a running assistant needs the report, not the runtime.
"""
