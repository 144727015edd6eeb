"""Pages saved from the command line: a server of their own, a Chromium without a window, and the files made with it."""
