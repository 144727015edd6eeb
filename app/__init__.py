"""The Dash application: command line, settings, store of runs, server and embedding."""
