"""The PID gate: present error, sum of errors and rise of errors, with hysteresis."""

from __future__ import annotations

from dataclasses import dataclass, field

from learnloop.control.leaky_integral import highest_sum
from learnloop.control.ranges import SLACK, check_error, check_range
from learnloop.errors import ParameterError
from learnloop.types import Decision


@dataclass(slots=True, kw_only=True, eq=False)
class PIDGate:
    """Opens when p + i + d rises to `open_at`, and again only after it fell to `rearm_at`.

    p is `kp` times the error; i is `ki` times the sum of the leaky-integral gate; d is `kd` times
    the rise of the error since the last call, after an exponential filter, and 0 where it fell or
    on the first call. Time is counted in calls, so the gate needs no clock. For a step in an error
    rate the sum alone is sufficient; d pays where the world drifts slowly.

    A reset empties the sum and arms the gate. The filter survives it, for the reason that the long
    window of the derivative gate does. Each crossing opens once, also one that is held back: the
    gate then waits for the signal to fall to `rearm_at`, or for a reset. The guards make such an
    opening good while the signal stays at `open_at`.

    The change point is the call after the last one that left the sum at 0. A reset that kept the
    prompt does not move it.

    Args:
        kp: Weight of the present error.
        ki: Weight of the sum.
        kd: Weight of the rise.
        leak: What is left of the sum after one call, above 0 and at most 1.
        setpoint: The mean error that is neutral to the sum.
        limit: The largest sum (anti-windup).
        filter: Weight of the present error in the filter, above 0 and at most 1 (no filter).
        open_at: Signal that opens.
        rearm_at: Signal that arms the gate again, below `open_at`.

    Examples:
        >>> gate = PIDGate(kp=0.0, ki=1.0, kd=0.0, leak=1.0, open_at=1.0)
        >>> [gate.decide(1.0).opened for _ in range(4)]
        [False, True, False, False]
    """

    kp: float = 0.5
    ki: float = 1.0
    kd: float = 0.5
    leak: float = 0.9
    setpoint: float = 0.5
    limit: float = 3.0
    filter: float = 0.5
    open_at: float = 1.5
    rearm_at: float = 0.5
    _sum: float = field(default=0.0, init=False, repr=False)
    _smooth: float | None = field(default=None, init=False, repr=False)
    _armed: bool = field(default=True, init=False, repr=False)
    _calls: int = field(default=0, init=False, repr=False)
    _since: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("kp", "ki", "kd"):
            check_range(name, getattr(self, name), at_least=0)
        check_range("leak", self.leak, above=0, at_most=1)
        check_range("setpoint", self.setpoint, at_least=0, below=1)
        check_range("limit", self.limit, above=0)
        check_range("filter", self.filter, above=0, at_most=1)
        check_range("open_at", self.open_at, above=0)
        check_range("rearm_at", self.rearm_at, at_least=0, below=self.open_at)
        highest_i = highest_sum(leak=self.leak, setpoint=self.setpoint, limit=self.limit)
        highest = self.kp + self.ki * highest_i + self.kd * self.filter
        if self.open_at > highest:
            raise ParameterError(
                f"open_at {self.open_at!r} is never reached, p + i + d stays below {highest:g}; "
                "lower it, or raise kp, ki or kd"
            )

    def decide(self, error: float) -> Decision:
        check_error(error)
        p = self.kp * error
        i = self.ki * self._integrate(error)
        d = self.kd * max(0.0, self._rise(error))
        signal = p + i + d
        opened = self._armed and signal >= self.open_at - SLACK
        self._armed = not opened and (self._armed or signal <= self.rearm_at + SLACK)
        return Decision(
            opened=opened,
            signal=signal,
            terms={"p": p, "i": i, "d": d, "armed": float(self._armed), "threshold": self.open_at},
            change_point=self._since if self._sum else None,
        )

    def reset(self, *, changed: bool = True) -> None:
        self._sum = 0.0
        self._armed = True
        if changed:
            self._since = self._calls

    def _integrate(self, error: float) -> float:
        self._calls += 1
        total = min(self.leak * self._sum + (error - self.setpoint), self.limit)
        if total <= SLACK:
            total = 0.0
            self._since = self._calls
        self._sum = total
        return total

    def _rise(self, error: float) -> float:
        """Return how much the filtered error rose; the first error starts the filter."""
        last = error if self._smooth is None else self._smooth
        self._smooth = last + self.filter * (error - last)
        return self._smooth - last
