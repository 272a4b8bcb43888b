import subprocess
import sys

import numpy as np
import pytest

from learnloop.memory.embedders.wordllama import WordLlamaEmbedder

ALONE = """
import logging, socket, sys
def no_network(*_):
    raise SystemExit("touched the network")
socket.socket.connect = socket.getaddrinfo = no_network
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder
WordLlamaEmbedder().embed(["How many orders?"])
assert logging.getLogger().handlers == [], logging.getLogger().handlers
assert logging.getLogger().level == logging.WARNING
"""


def test_loading_is_silent_and_touches_neither_network_nor_logging():
    ended = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_paraphrases_are_nearer_than_other_subjects():
    embedder = WordLlamaEmbedder()
    asked, alike, other = embedder.embed(
        [
            "How many orders did each customer place?",
            "Count the orders of every customer.",
            "Which nurse worked in the intensive care ward last night?",
        ]
    )
    assert asked @ alike > asked @ other + 0.2


def test_texts_without_a_word_still_have_a_vector_of_length_one():
    vectors = WordLlamaEmbedder().embed(["", "   ", "\u200b"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0, 1.0])


def test_a_text_has_the_same_bits_alone_and_beside_a_long_one():
    embedder = WordLlamaEmbedder()
    alone = embedder.embed(["How many orders?"])[0]
    beside = embedder.embed(["word " * 500, "How many orders?"])[1]
    assert alone.tobytes() == beside.tobytes()
