"""The command line: what `mindscope COMMAND` does, its settings, and the processes it starts and stops."""
