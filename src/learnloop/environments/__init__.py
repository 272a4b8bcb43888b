"""Streams of queries; the only place that knows an answer."""
