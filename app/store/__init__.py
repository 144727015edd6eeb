"""The runs of a server, read in the background and kept in memory and on disk; remarks, tags and saved views."""
