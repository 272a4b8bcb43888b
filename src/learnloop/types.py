"""The nouns: what flows round the loop. Frozen, and free of behaviour.

A method sees `Query` and `Feedback`. It never sees `Score`, which belongs to the experimenter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal["right", "wrong", "unknown"]
Verdict = Literal["open", "keep", "roll_back"]
Values = Mapping[str, str | int]
"""A structured prompt as values: what each of its fields says."""
CallRole = Literal["answer", "policy", "edit", "loss", "backward", "reflect", "judge", "embed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one call took. `tokens_cached` is the part of `tokens_in` that was not read again.

    `tokens_thinking` is the part of `tokens_out` spent inside `<think>`. `cost` is in US dollars,
    `None` where no price is known (a model on this machine costs 0).
    """

    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    tokens_thinking: int = 0
    seconds: float = 0.0
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How one call is to be made. `role` says what for, and is what the ledger groups by.

    `sample` tells apart repeated draws with the same messages; `schema` is a JSON schema that the
    reply must follow.
    """

    role: CallRole = "answer"
    max_tokens: int = 512
    temperature: float = 0.0
    seed: int = 0
    sample: int = 0
    stop: tuple[str, ...] = ()
    schema: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said, without its thinking. `replayed` marks one read from a response cache."""

    text: str
    usage: Usage
    finish_reason: Literal["stop", "length"] = "stop"
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One row of the ledger: a call that was made, or tried (`error` then says why it failed)."""

    role: CallRole
    model: str
    usage: Usage
    error: str | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What an environment, or an application, asks of a model.

    Attributes:
        role: One sentence that tells the model who it is.
        instructions: What to do with a query.
        answer_format: How the answer must look.
        metric: Name of the score, for reports.
        parse: Turns a model's whole reply into the answer alone.
        query_label: What a query is called in a prompt, for example `Question`.
        answer_label: What an answer is called in a prompt, for example `SQL`.
        shared_context: Whether many queries share one context (a schema), so that a prompt may
            put it first, where a cache can reuse it.
        prompt_form: How a persistent prompt is written, where it has fields; `None` where it is
            free text.
        context_in_examples: Whether an example is shown with the context of its query: where each
            query has paragraphs of its own, an answer means nothing without them.
    """

    name: str
    role: str
    instructions: str
    answer_format: str
    metric: str
    parse: Callable[[str], str] = str.strip
    query_label: str = "Question"
    answer_label: str = "Answer"
    shared_context: bool = False
    prompt_form: PromptForm | None = None
    context_in_examples: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptField:
    """One line of a structured prompt: one of some words, or a whole number from `low` to `high`.

    `meaning` says in a few words, for an editor, what it stands for.
    """

    name: str
    meaning: str
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptForm:
    """The structured prompt of a task: its fields, and how it is read without a model.

    Attributes:
        fields: The lines of the prompt, in their order.
        initial: What the first version says.
        predict: Reads the prompt for a query: the `structured` predictor.
        observe: Puts one observed episode into a line that an editor can read.
        fit: The values that agree best with some episodes, by arithmetic; given values that agree
            as well stay. What the reference editors do, for theory and tests.
        question: What an editor is asked, plainly.
        complain: Why values that are each in range do not go together; `None` where they do.
        bucket: Width of the classes of distance in which a numeric answer is measured; 0 where
            answers are categories.
    """

    fields: tuple[PromptField, ...]
    initial: Values
    predict: Callable[[Values, Query], str]
    observe: Callable[[Episode], str]
    fit: Callable[[Values, Sequence[Episode]], Values]
    question: str
    complain: Callable[[Values], str | None] = lambda values: None
    bucket: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One item of the stream, as the application sees it.

    `text` is what was asked and what memory is searched by; `context` is what the answer must be
    based on (a database schema, paragraphs); `group` names the part of the application it belongs
    to (a database, a customer), `""` where there is only one. `key` is the text that its episode is
    remembered under where that is another one than `text`, as a published quirk has it.
    """

    id: str
    text: str
    context: str = ""
    group: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Who says so: `kind` is `environment`, `user`, `reviewer`, `model` or `code`."""

    kind: str = "environment"
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What came back from the world about one prediction. All but the target is optional.

    Attributes:
        id: Idempotency key; the same id twice is the same feedback.
        target_id: Id of the query whose prediction this is about.
        correct: Whether the answer was right, as far as the source can tell.
        value: A rating, where the source gives a number.
        comment: What was wrong, in the words of the source.
        correction: The answer that the source would have accepted.
        observed: What the source saw in place of the answer, right or wrong, where it says: the
            label, or for a number the interval `low-high`. Any other prediction can be judged by
            it too.
        confidence: How sure the source is, 0 to 1.
        event_time: ISO 8601; `None` in a stream, where time is counted in steps.
        supersedes: Id of the feedback that this one replaces.
    """

    id: str
    target_id: str
    name: str = "correct"
    correct: bool | None = None
    value: float | None = None
    comment: str | None = None
    correction: str | None = None
    observed: str | None = None
    source: Source = field(default_factory=Source)
    confidence: float | None = None
    event_time: str | None = None
    supersedes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One remembered query and answer, with the feedback it got.

    `correct` is what the feedback in force says (`None`: nothing, yet); `feedback` is all of it,
    oldest first. `source` tells an answer of the model (`model`) from one that somebody gave as a
    correction. `step` is when it was remembered. `rationale` is the reasoning that the model gave
    before its answer, where it was asked for one.
    """

    id: str
    query: Query
    answer: str
    step: int
    source: Source
    correct: bool | None = None
    feedback: tuple[Feedback, ...] = ()
    rationale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """An episode found again; `similarity` is the cosine to what was searched for, -1 to 1."""

    episode: Episode
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullet:
    """One line of a policy, with the episodes it came from and what happened when it was shown."""

    text: str
    sources: tuple[str, ...] = ()
    helped: int = 0
    harmed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Guidelines for one query: a few bullets, and the name of who wrote them."""

    bullets: tuple[Bullet, ...]
    writer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDraft:
    """What a policy writer proposes; `policy` is `None` where it has none, and `reason` why.

    `refused` tells a proposal that was bad, or a call that failed, from having nothing to say
    yet. `reason` may also say which bullets of a good policy were left out.
    """

    policy: Policy | None
    reason: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One version of the persistent prompt. Editing makes a new one."""

    version: int
    text: str
    parent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What the answering model is to be shown for a query, before any budget cuts it.

    `evidence` is what a policy writer was shown, and no answering model is.
    """

    examples: tuple[Episode, ...] = ()
    policy: Policy | None = None
    prompt: Prompt | None = None
    evidence: tuple[Episode, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What an editor proposes; `text` is `None` where the old prompt stays, and `reason` why.

    `invalid` counts proposals that could not be used, also where another one could; `calls` is
    what the edit is charged with (a reference editor stands for one call).
    """

    text: str | None
    reason: str
    invalid: int = 0
    calls: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A gate's answer, with the terms that led to it, so that a dashboard can draw them.

    `change_point` counts errors from 0 over the life of the gate: the first that the gate
    believes to belong to the change; `None` where it suspects none.
    """

    opened: bool
    signal: float
    terms: Mapping[str, float]
    change_point: int | None = None


NO_BUDGET = "no_budget"
"""Term of a decision that opened but for the budget: what costs no call may still be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a comparator finds: the error, 0 (none) to 1, and on a mismatch the words for it."""

    error: float
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What the application answered, and what it was based on.

    Attributes:
        query_id: The query it answers.
        text: The parsed answer.
        raw: The model's whole reply, without its thinking.
        examples: Ids of the episodes shown to the answering model, in the order shown.
        evidence: Ids of the episodes shown to the policy writer.
        policy: The policy shown to the answering model.
        prompt_version: Version of the persistent prompt, where there is one.
        rationale: The reasoning before the answer, where the method asked for one.
        agent: Which of several answering models said it, from 0.
    """

    query_id: str
    text: str
    raw: str = ""
    examples: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    policy: Policy | None = None
    prompt_version: int | None = None
    rationale: str = ""
    agent: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The experimenter's grade, which no method may see. `value` is 0 to 1.

    `why` says how the grade came about, `gold` what was expected: both for reports only.
    """

    value: float
    why: str = ""
    gold: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What an environment answers to a prediction: clean feedback, the hidden score, what is next.

    `query` is `None` at the end of the stream.
    """

    feedback: Feedback
    score: Score
    query: Query | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something worth a line in the records: a proposal refused, a rule merged, text cut.

    `kind` is a fixed word (`policy_refused`, `rule_added`, `rule_merged`, `cut`, …), `text` is for
    people, `refs` are the ids it is about.
    """

    kind: str
    text: str
    refs: tuple[str, ...] = ()
