"""Tables of metrics, as loggers of other frameworks write them: CSV, JSON lines and the state of a trainer."""
