"""Hosts methods behind an OpenAI-compatible endpoint. Empty as yet."""
