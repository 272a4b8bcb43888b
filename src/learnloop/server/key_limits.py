"""Who is let in, and how often: finds the principal, and keeps each key to its share."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from learnloop.errors import RequestRefusedError, StoreError
from learnloop.server.config import Limits
from learnloop.server.doorkeeper import Doorkeeper
from learnloop.server.refusals import refusal

WITHOUT_KEY = frozenset({"/health", "/ready"})
MOST_KNOWN = 10_000
BUSY_SECONDS = 1.0


@dataclass(slots=True, kw_only=True)
class _Share:
    """What is left of a minute's requests at a moment, and how many are being answered."""

    left: float
    at: float
    running: int = 0


class Shares:
    """Counts the requests of each caller: a bucket that fills evenly, and a number at once.

    Args:
        limits: How many.
        clock: Seconds.

    Examples:
        >>> limits = Limits(requests_per_minute=60, concurrent_requests=1)
        >>> shares = Shares(limits, clock=lambda: 0.0)
        >>> shares.enter("key_1")
        >>> shares.enter("key_1")
        Traceback (most recent call last):
        ...
        learnloop.errors.RequestRefusedError: 1 requests of this key are being answered already...
        >>> shares.leave("key_1")
    """

    def __init__(self, limits: Limits, *, clock: Callable[[], float]) -> None:
        self.limits = limits
        self.clock = clock
        self._shares: OrderedDict[str, _Share] = OrderedDict()

    def enter(self, caller: str) -> None:
        """Count a request that begins.

        Raises:
            RequestRefusedError: It is one too many (429).
        """
        share = self._fill(caller)
        if share.running >= self.limits.concurrent_requests:
            raise _too_many(
                f"{share.running} requests of this key are being answered already; wait for one "
                "to end",
                code="concurrency_limit_exceeded",
                retry_after=BUSY_SECONDS,
            )
        if share.left < 1:
            raise _too_many(
                f"more than {self.limits.requests_per_minute} requests a minute; wait",
                code="rate_limit_exceeded",
                retry_after=(1 - share.left) * 60 / self.limits.requests_per_minute,
            )
        share.left -= 1
        share.running += 1

    def leave(self, caller: str) -> None:
        """Count a request that ends."""
        self._shares[caller].running -= 1

    def _fill(self, caller: str) -> _Share:
        most, now = float(self.limits.requests_per_minute), self.clock()
        share = self._shares.pop(caller, None) or _Share(left=most, at=now)
        self._shares[caller] = share
        share.left = min(most, share.left + (now - share.at) * most / 60)
        share.at = now
        self._forget()
        return share

    def _forget(self) -> None:
        """Let go of the callers that were longest away, but not of one that is being answered."""
        while len(self._shares) > MOST_KNOWN:
            idle = next((caller for caller, it in self._shares.items() if not it.running), None)
            if idle is None:
                return
            del self._shares[idle]


class KeyLimits:
    """Puts the principal into the request's state, and refuses what is over its limits.

    Requests without a good key share the limits of their address; whether they may do anything
    is for the routes to say.
    """

    def __init__(self, app: ASGIApp, *, doorkeeper: Doorkeeper, shares: Shares) -> None:
        self.app = app
        self.doorkeeper = doorkeeper
        self.shares = shares

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in WITHOUT_KEY:
            await self.app(scope, receive, send)
            return
        try:
            caller = self._identify(scope)
            self.shares.enter(caller)
        except RequestRefusedError as error:
            await refusal(error)(scope, receive, send)
            return
        try:
            await self.app(scope, receive, send)
        finally:
            self.shares.leave(caller)

    def _identify(self, scope: Scope) -> str:
        try:
            principal = self.doorkeeper.identify(Headers(scope=scope))
        except StoreError as error:
            raise RequestRefusedError(
                "the key cannot be looked up; the server's log says why",
                status=503,
                code="storage_unavailable",
                retry_after=BUSY_SECONDS,
            ) from error
        scope.setdefault("state", {})["principal"] = principal
        address = (scope.get("client") or ("",))[0]
        return principal.key_id if principal else f"address {address}"


def _too_many(message: str, *, code: str, retry_after: float) -> RequestRefusedError:
    return RequestRefusedError(message, status=429, code=code, retry_after=retry_after)
