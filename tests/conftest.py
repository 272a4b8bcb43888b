"""Runs over scripted models, for the tests of the runner, the rules and the commands."""

import hashlib
import itertools
import json
from dataclasses import dataclass, field

import pytest

from learnloop.checks.list_environment import Item, ListEnvironment
from learnloop.llm.metered import Ledger
from learnloop.llm.scripted import Scripted
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder
from learnloop.runner.budget import Budget, Spending
from learnloop.runner.building import Prepared
from learnloop.runner.conduct import conduct
from learnloop.runner.spec import make_spec
from learnloop.settings import read_settings
from learnloop.types import Query


def make_items(count):
    """Questions whose answers are words; the third part of them is about colours."""
    return [
        Item(
            query=Query(
                id=f"q{n}",
                text=f"Which word stands for number {n} of the {_KINDS[n % 3]}?",
                group="words",
            ),
            gold=f"word{n}",
            comment=f"Words of the {_KINDS[n % 3]} are written with their number, such as {n}.",
        )
        for n in range(count)
    ]


def make_demonstrations(count):
    """Items that are never asked."""
    return [
        Item(query=Query(id=f"shown{n}", text=f"Which word is shown as {n}?"), gold=f"shown{n}")
        for n in range(count)
    ]


_KINDS = ("colours", "animals", "tools")


def dependent_reply(messages, options):
    """Give a reply that any change in the messages changes; every second answer is right."""
    text = "\n".join(message.content for message in messages)
    digest = hashlib.sha256(text.encode()).hexdigest()
    rule = f"Write the word with its number, as case {digest[:6]} shows."
    if options.role == "edit":
        return json.dumps({"prompt": rule})
    if options.role != "answer":
        sheet = "<cheatsheet>" in text
        return f"<cheatsheet>\n- {rule}\n</cheatsheet>" if sheet else f"POLICY:\n- {rule}"
    number = text.rpartition("number ")[2].split()[0]
    return f"word{number}" if int(digest, 16) % 2 else f"mistaken{digest[:8]}"


@dataclass(kw_only=True)
class Bench:
    """Makes runs in a directory."""

    embedder: WordLlamaEmbedder
    script: object = dependent_reply
    items: list = field(default_factory=lambda: make_items(6))
    marker: str = ""
    demonstrations: list = field(default_factory=lambda: make_demonstrations(3))

    def prepare(self, *, model=None, policy_model=None, agent_models=(), **fields):
        spec = make_spec(**({"environment": "list", "method": "drpg", "model": "m"} | fields))
        environment = ListEnvironment(
            self.items, marker=self.marker, demonstrations=self.demonstrations
        )
        model = model or Scripted(self.script, name="m")
        return Prepared(
            spec=spec,
            environment=environment,
            embedder=self.embedder,
            model=model,
            policy_model=policy_model or model,
            ledger=Ledger(),
            length=spec.steps or len(environment),
            agents=tuple(agent_models) or tuple(model for _ in spec.agents),
        )

    def run(self, directory, *, resume=False, budget=None, responses=None, **fields):
        """Run to the end and return the records."""
        ticks = itertools.count()
        outcomes = conduct(
            self.prepare(**({"feedback": "comment,correction=0.5"} | fields)),
            directory=directory,
            spending=Spending(budget or Budget(), clock=lambda: float(next(ticks))),
            responses=responses,
            resume=resume,
        )
        return [outcome.record for outcome in outcomes]


@pytest.fixture(scope="session")
def benchmark_data():
    """The folder of real benchmark rows; a test that needs it skips where there is none."""
    folder = read_settings().data
    if folder is None or not folder.is_dir():
        pytest.skip("needs real benchmark rows: set LEARNLOOP_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def embedder():
    return WordLlamaEmbedder()


@pytest.fixture
def bench(embedder):
    return Bench(embedder=embedder)


@pytest.fixture(scope="session")
def finished(embedder, tmp_path_factory):
    """The directory of a complete run. Read it only."""
    directory = tmp_path_factory.mktemp("finished")
    Bench(embedder=embedder).run(directory)
    return directory
