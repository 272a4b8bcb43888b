"""Methods, each in a file of its own name; the only place where parts are put together."""
