"""Predictors: how a query is answered under a persistent prompt, without a model or with one."""

from __future__ import annotations

from functools import lru_cache

from learnloop.methods.answering import Answerer
from learnloop.structured_prompt import read_prompt
from learnloop.types import Prediction, Prompt, PromptForm, Query, Values

VERSIONS_READ = 64


class StructuredPredictor:
    """Reads the prompt as the task's form says: no model, no call.

    Args:
        form: How the prompt is written and read.
    """

    def __init__(self, *, form: PromptForm) -> None:
        self.form = form
        self._read = lru_cache(maxsize=VERSIONS_READ)(self._values)

    def predict(self, prompt: Prompt, query: Query) -> Prediction:
        text = self.form.predict(self._read(prompt.text), query)
        return Prediction(query_id=query.id, text=text, prompt_version=prompt.version)

    def _values(self, text: str) -> Values:
        return read_prompt(self.form, text)


class ModelPredictor:
    """Has the model read the prompt and answer: one call a query.

    Args:
        answerer: Answers.
    """

    def __init__(self, *, answerer: Answerer) -> None:
        self.answerer = answerer

    def predict(self, prompt: Prompt, query: Query) -> Prediction:
        return self.answerer.answer(query, prompt=prompt)
