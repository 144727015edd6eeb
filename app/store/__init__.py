"""The runs of a server, read in the background and cached in memory and on disk; remarks, tags and saved views."""
