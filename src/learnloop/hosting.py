"""What a method must do, beside answering and learning, for an application to host it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from learnloop.protocols import Method, Prompts
from learnloop.types import Advice, Episode, Feedback, Prediction, Query


class Hosted(Method, Protocol):
    """A method that an application can ask what to show, while others answer for it.

    `predict_one` answers by `advise`, and `learn_one` is `remember_one` and then `reflect_one`.
    One verb runs at a time, but while the one `reflect_one` waits for a model the others may run:
    what was read before a call may be out of date after it. It alone, beside steering by hand,
    changes `state`; what `remember_one` keeps is in the memory that the method was given.
    """

    def advise(self, query: Query) -> Advice:
        """Return what to show for a query. Calls no model and learns nothing.

        Raises:
            ParameterError: The method, with its parameters, needs a model for that.
        """
        ...

    def remember_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> Episode:
        """Take in what needs no model, and return the episode as it stands now.

        The newest feedback on it comes last. It is returned also where no episodes are kept.
        """
        ...

    def reflect_one(self, episode: Episode, prediction: Prediction) -> None:
        """Learn the rest from the last feedback of an episode; may call models, but not answer.

        The same feedback a second time changes nothing, so what was cut off can be done again.

        Raises:
            EditingError: An editor failed; the prompt stays as it was.
        """
        ...

    def state(self) -> dict[str, object]:
        """Return what was learnt beside the memory, as values that JSON has."""
        ...

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on from a state; for a method that has learnt nothing yet, over the same memory.

        Raises:
            StoreError: The state cannot be read, or the method has learnt something already.
        """
        ...


class Steerable(Protocol):
    """A method with one persistent text, which a person can roll back and pin.

    `prompts.restore(version, cause="by hand")` may come while an editor writes: that is dropped.
    """

    @property
    def prompts(self) -> Prompts:
        """The versions of the text."""
        ...

    def pin(self, *, pinned: bool = True) -> None:
        """Keep the version in force, or let the method edit again."""
        ...


class RuleKeeper(Protocol):
    """A method with many rules, each of which a person can take out of use."""

    def retire(self, rule_id: int, *, cause: str) -> None:
        """Show a rule no more, whatever is said for it later; `cause` says why."""
        ...

    def restore_rule(self, rule_id: int) -> None:
        """Show a rule again that was retired."""
        ...
