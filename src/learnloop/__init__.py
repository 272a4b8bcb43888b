"""Makes an application built on language models better while it runs, from its feedback."""

__version__ = "0.1.0"
