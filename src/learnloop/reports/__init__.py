"""Reads records, and nothing else, into tables, charts and pages."""
