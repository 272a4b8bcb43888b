"""The drift detectors of the library river, which the gates named after them open with."""

from __future__ import annotations

from typing import Literal, Protocol

from learnloop.errors import MissingExtraError


class Detector(Protocol):
    """What the gates need of a detector of river."""

    @property
    def drift_detected(self) -> bool:
        """Whether the last value revealed a change."""
        ...

    def update(self, x: float) -> object:
        """Take in one value."""
        ...


class WarningDetector(Detector, Protocol):
    """A detector that also warns before it detects."""

    @property
    def warning_detected(self) -> bool:
        """Whether the last value came near."""
        ...


class WindowDetector(Detector, Protocol):
    """A detector that keeps a window of values since the last change."""

    @property
    def width(self) -> float:
        """Number of values in the window."""
        ...

    @property
    def estimation(self) -> float:
        """Mean of the window."""
        ...


def make_detector(kind: Literal["ADWIN", "DDM", "PageHinkley"], **params: float | str) -> object:
    """Return a fresh detector of river.

    Raises:
        MissingExtraError: river is not installed.
    """
    try:
        from river import drift
    except ImportError as error:
        raise MissingExtraError(
            f"the gate of {kind} needs the package 'river'; install it with "
            "`pip install 'learnloop[drift]'`, or take another gate"
        ) from error
    kinds = {"ADWIN": drift.ADWIN, "DDM": drift.binary.DDM, "PageHinkley": drift.PageHinkley}
    detector: object = kinds[kind](**params)
    return detector
