"""The command line: the commands of `mindscope`, its settings, and the processes it starts and stops."""
