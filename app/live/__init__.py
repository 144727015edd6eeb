"""Live training: a server for MindInsight's debugger protocol, and the sessions with it."""
