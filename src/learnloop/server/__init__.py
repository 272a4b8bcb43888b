"""Hosts methods behind an OpenAI-compatible endpoint that learns from feedback."""
