"""Runs that leave no files: the same parts and the same loop, of which only the numbers stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from learnloop.llm.metered import Ledger, Metered
from learnloop.memory.opening import open_memory
from learnloop.protocols import Embedder
from learnloop.records.run_summary import RunSummary, summarise_run
from learnloop.runner.building import Prepared, build_sensor, prepare, put_together, run_info
from learnloop.runner.resources import Resources
from learnloop.runner.run import Instruments, StepJournal, StepOutcome, run
from learnloop.runner.spec import RunSpec
from learnloop.settings import Settings


class SharedResources(Resources):
    """Opens each embedder once. For runs that are made one after the other over one ledger."""

    def __init__(self, *, settings: Settings) -> None:
        super().__init__(settings=settings)
        self._embedders: dict[str, Embedder] = {}

    def embedder(self, name: str, ledger: Ledger) -> Embedder:
        if name not in self._embedders:
            self._embedders[name] = super().embedder(name, ledger)
        return self._embedders[name]


class InMemory:
    """Makes runs one after the other and returns what each came to.

    Args:
        settings: Where models are.
        clock: In seconds.
    """

    def __init__(self, *, settings: Settings, clock: Callable[[], float]) -> None:
        self.resources = SharedResources(settings=settings)
        self.clock = clock
        self._ledger = Ledger()

    def summarise(self, spec: RunSpec) -> RunSummary:
        """Make a run, from its first step to its end.

        Raises:
            LearnloopError: It cannot be made.
        """
        prepared = prepare(spec, self.resources, ledger=self._ledger)
        records = [outcome.record for outcome in self.begin(prepared)]
        info = replace(run_info(prepared), complete=len(records) == prepared.length)
        return summarise_run(info, records)

    def begin(self, prepared: Prepared) -> Iterator[StepOutcome]:
        """Put a run together, and return its steps, which are made as they are asked for."""
        spec, journal = prepared.spec, StepJournal()
        method = put_together(
            prepared,
            model=Metered(prepared.model, self._ledger),
            policy_model=Metered(prepared.policy_model, self._ledger),
            agents=[Metered(each, self._ledger) for each in prepared.agents],
            memory=open_memory(prepared.embedder),
            journal=journal,
        )
        return run(
            method,
            prepared.environment,
            sensor=build_sensor(spec, prepared.environment),
            seed=spec.seed,
            steps=spec.steps,
            instruments=Instruments(ledger=self._ledger, journal=journal, clock=self.clock),
        )
