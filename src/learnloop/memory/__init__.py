"""What happened, and finding it again."""

from learnloop.protocols import Embedder
from learnloop.registry import Registry

EMBEDDERS: Registry[Embedder] = Registry(
    "embedder",
    {"wordllama": "learnloop.memory.embedders.wordllama:WordLlamaEmbedder"},
    group="learnloop.embedders",
)
