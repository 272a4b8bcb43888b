"""All that the server keeps, in one SQLite file; every query is scoped to a tenant."""
