"""The verbs: what each part of the loop must do. Parts meet here and nowhere else."""

from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from learnloop.types import (
    Comparison,
    Decision,
    Edit,
    Episode,
    Event,
    Feedback,
    Match,
    Message,
    Options,
    Outcome,
    Policy,
    PolicyDraft,
    Prediction,
    Prompt,
    Query,
    Reply,
    Step,
    Task,
    Verdict,
)

Vectors = NDArray[np.float32]


class Method(Protocol):
    """Anything that answers a stream and may learn from it."""

    def predict_one(self, query: Query) -> Prediction:
        """Answer one query. Must not learn, and never sees a label.

        Raises:
            LanguageModelError: The answering call failed; the step counts as failed.
        """
        ...

    def learn_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> None:
        """Take in one feedback on one earlier prediction. Must not answer.

        Feedback may come late, more than once, or not at all, and any part of it may be missing.
        """
        ...


class Environment(Protocol):
    """Gives queries, takes predictions, and is the only one that knows the answers."""

    @property
    def id(self) -> str:
        """Name with a version that rises when wording, order or grading changes."""
        ...

    @property
    def task(self) -> Task:
        """What is asked of the model."""
        ...

    def __len__(self) -> int:
        """Number of queries in one stream."""
        ...

    def reset(self, *, seed: int) -> Query:
        """Begin the stream again, in the order that the seed gives, and return its first query."""
        ...

    def step(self, prediction: Prediction) -> Step:
        """Grade the prediction for the current query and move on.

        The feedback is clean and complete (comment and correction where the environment knows
        them, on wrong answers only); a sensor makes it noisy, late or partial.
        """
        ...


class Sensor(Protocol):
    """Turns the environment's clean feedback into what arrives, and when."""

    def sense(self, feedback: Feedback, *, step: int) -> Sequence[Feedback]:
        """Return what arrives at this step: nothing, one or several, also for earlier targets."""
        ...


class LanguageModel(Protocol):
    """Answers messages. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """What it is called in records and cache keys; the same name gives the same answers."""
        ...

    def complete(self, messages: Sequence[Message], *, options: Options) -> Reply:
        """Answer once.

        Raises:
            LanguageModelError: No answer was had. It is never turned into text.
        """
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors whose dot product is their similarity."""

    @property
    def name(self) -> str:
        """Stored with every vector; vectors of different names never mix."""
        ...

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, shape `(len(texts), dimension)`, each of length 1."""
        ...


class EpisodeStore(Protocol):
    """Remembers episodes and the feedback on them.

    Append-only: a correction supersedes. Only `erase`, for a person's data, removes anything.
    """

    def add(self, episode: Episode, vector: Vectors) -> bool:
        """Remember an episode under its vector of shape `(dimension,)`; `False` if it was there.

        Raises:
            ConflictError: Another query or answer is there under the same id.
            EmbedderMismatchError: The vector has another dimension.
        """
        ...

    def add_feedback(self, episode_id: str, feedback: Feedback) -> bool:
        """Attach feedback to an episode; `False` if that feedback id was there already.

        Raises:
            UnknownEpisodeError: There is no such episode.
            ConflictError: That feedback id was given to another episode.
        """
        ...

    def get(self, episode_id: str) -> Episode | None:
        """Return the episode with the feedback in force, `None` where there is none."""
        ...

    def nearest(
        self, vector: Vectors, *, k: int, outcome: Outcome | None = None, group: str | None = None
    ) -> list[Match]:
        """Return the k most similar episodes, most similar first; `None` filters nothing.

        Equal similarities are ordered by age, oldest first, so that the order never varies.
        """
        ...

    def recent(self, *, k: int, outcome: Outcome | None = None) -> list[Episode]:
        """Return the k newest episodes, oldest first."""
        ...

    def erase(self, query_ids: Collection[str]) -> int:
        """Remove the episodes of these ids for good, and return how many were removed.

        Their corrections (ids `ID:correction` and `ID:correction:...`) and all feedback on them
        go too. Ids that are not there are passed over; all of it happens, or nothing.
        """
        ...

    def __len__(self) -> int:
        """Number of episodes."""
        ...


class Retriever(Protocol):
    """Finds the episodes that may help with a query."""

    def retrieve(self, query: Query, *, k: int) -> tuple[Episode, ...]:
        """Return at most k episodes, most similar last."""
        ...


class PolicyWriter(Protocol):
    """Writes the policy for a query, and may learn from each episode."""

    def write(
        self, query: Query, *, evidence: Sequence[Episode], previous: Policy | None
    ) -> PolicyDraft:
        """Propose a policy for one query. A refused or failed draft has `policy=None`."""
        ...

    def learn_one(self, episode: Episode, *, shown: Policy | None) -> None:
        """Take in an episode with its feedback, and the policy it was answered under."""
        ...


class Comparator(Protocol):
    """Turns a prediction and what was sensed into an error."""

    def compare(self, prediction: Prediction, feedback: Feedback) -> Comparison | None:
        """Return the error, 0 (they agree) to 1, and words; `None` where nothing can be told.

        The prediction may be another one than the feedback is about: what an earlier prompt
        would have said. It can then be judged only where the feedback says what was observed.
        """
        ...


class Gate(Protocol):
    """Decides when the editor may rewrite the prompt."""

    def decide(self, error: float) -> Decision:
        """Take in one error, 0 to 1, and say whether to edit now."""
        ...

    def reset(self, *, changed: bool = True) -> None:
        """Begin again after an edit, or after one that left the prompt as it was."""
        ...


class Predictor(Protocol):
    """Answers a query under a version of the persistent prompt."""

    def predict(self, prompt: Prompt, query: Query) -> Prediction:
        """Return what would be answered under the prompt.

        Raises:
            LanguageModelError: The answering call failed.
        """
        ...


class Prompts(Protocol):
    """The versions of one persistent prompt. Versions never change; there are only new ones."""

    @property
    def current(self) -> Prompt:
        """The version in force."""
        ...

    @property
    def pinned(self) -> bool:
        """Whether no method may put another version in force; a person still may."""
        ...

    def deploy(self, text: str, *, cause: str) -> Prompt:
        """Put a new version in force; `cause` says what for."""
        ...

    def restore(self, version: int, *, cause: str) -> Prompt:
        """Put the exact text of an earlier version in force again, as a new version."""
        ...

    def earlier(self) -> Sequence[Prompt]:
        """Return the versions before the current one, newest first."""
        ...


class Editor(Protocol):
    """Rewrites the prompt in the light of evidence."""

    @property
    def max_calls(self) -> int:
        """The most calls that one edit can take, to be reserved before it begins."""
        ...

    def edit(self, prompt: Prompt, evidence: Sequence[Episode]) -> Edit:
        """Propose a new version of the prompt. Changes nothing itself.

        Raises:
            EditingError: The model or the library failed; never turned into a proposal.
        """
        ...


class Select(Protocol):
    """Chooses what an editor gets to see."""

    def __call__(self, episodes: Sequence[Episode], decision: Decision, /) -> Sequence[Episode]:
        """Return the evidence for an edit, out of the remembered episodes, oldest first."""
        ...


class CallBudget(Protocol):
    """Keeps count of the calls that edits take: `used`."""

    used: int

    def settle(self, calls: int) -> None:
        """Count the calls of one edit.

        Raises:
            EditingError: They are more than may be.
        """
        ...


class Trial(Protocol):
    """Watches a new prompt against the one before it, on the same observations."""

    def begin(self) -> None:
        """A new prompt is in force."""
        ...

    def judge(self, *, new: float, old: float) -> Verdict:
        """Take in the errors that both made on one observation."""
        ...


class Recall(Protocol):
    """Chooses among prompts that were in force before."""

    def choose(self, current: Sequence[float], earlier: Sequence[Sequence[float]]) -> int | None:
        """Return which earlier prompt explains the evidence, by the errors each makes on it.

        `None` where none is clearly better than the current one.
        """
        ...


class Journal(Protocol):
    """Takes the events that a part wants on record."""

    def record(self, event: Event) -> None:
        """Keep one event for the current step."""
        ...

    def decided(self, error: float, decision: Decision) -> None:
        """Keep the error of the current step and what the gate made of it."""
        ...
