"""What a run leaves behind: the schema, an append-only writer, and a reader."""
