"""What is loaded, in which order it would run and why, and what is not loaded and why.

Nothing is imported here: a command that only asks a running assistant needs the report, not a house.
"""
