"""What happened, and finding it again."""

from learnloop.protocols import Embedder
from learnloop.registry import Registry

EMBEDDERS: Registry[Embedder] = Registry(
    "embedder",
    {
        "openai": "learnloop.memory.embedders.openai_compatible:OpenAICompatibleEmbedder",
        "sentence-transformers": (
            "learnloop.memory.embedders.sentence_transformers:SentenceTransformersEmbedder"
        ),
        "wordllama": "learnloop.memory.embedders.wordllama:WordLlamaEmbedder",
    },
    group="learnloop.embedders",
)
