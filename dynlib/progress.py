"""How far long work is: shown while it runs, and what is kept when it is stopped."""

import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np

_CAUSES = (
    "The cause may be a torque that jumps, as with the sign of a rate (dry friction is a matter of the motors), or is "
    "like noise (hold it constant over short times, and simulate one after the other); a motion that grows beyond all "
    "bounds; very fast rates; stops that are very close together; or tolerances below the rounding."
)
_WINDOW = 500  # steps, over which time must have gone on
_LEAST_SHARE = 1e-6  # of the whole time, in so many steps; a run that needs more steps than 1e8 would take days
_FIRST_LINE, _FIRST_LINE_IN_NOTEBOOK = 3.0, 60.0  # s; what a notebook stores is to stay as it is


class SimulationError(RuntimeError):
    """A simulation that cannot go on; the message says why, when and where.

    Attributes:
        why: the reason, as the message gives it.
        t: time, in s.
        q: joint values there, shape (N,).
        dq: joint rates there, shape (N,).
        motion: what was computed up to there: the rows of the times that were asked for, and one of the last state
            before the error. Without any row if the start was at fault.
    """

    def __init__(self, why: str, t: float, q: Sequence[float], dq: Sequence[float]):
        self.why, self.t, self.q, self.dq = why, t, np.array(q), np.array(dq)
        self.motion: Any = None
        at = f"t = {t:.9g} s, q = {self.q.tolist()}, dq = {self.dq.tolist()}"
        super().__init__(f"the simulation cannot go on at {at}: {why}")


class SimulationInterrupted(KeyboardInterrupt):
    """A simulation that was interrupted, as by Ctrl-C; it ends a program as every interruption does, unless caught.

    Attributes:
        t: time that the motion had come to, in s.
        motion: what was computed up to there, as in :class:`SimulationError`.
    """

    def __init__(self, t: float, motion: Any):
        self.t, self.motion = t, motion
        super().__init__(
            f"stopped by you at t = {t:.9g} s of the motion. What was computed up to there is kept: in a notebook or "
            "at the prompt of Python, import sys and take sys.last_value.motion before the next error; in a program, "
            "put the call into try: ... except KeyboardInterrupt as stop: and take stop.motion there."
        )


# ---- How a run gets on -----------------------------------------------------------------------------


class Watch:
    """Tells how far a run has come, and notices if time hardly goes on.

    A run of more than a few seconds says by itself, on the standard error stream, how far it is and how long it will
    take; in a notebook only after a minute. Meanwhile NumPy does not warn of numbers that become too large: whoever
    integrates looks for them.
    """

    def __init__(
        self,
        start: float,
        end: float,
        progress: Callable[[float], Any] | None = None,
        *,
        what: str = "simulation",
        stop: str = "; Ctrl-C stops it and tells where the motion so far is kept",
    ):
        if progress is not None and not callable(progress):
            raise TypeError(f"progress is {progress!r}; expected a function of the share done, from 0 to 1.")
        self.start, self.end, self.progress, self.what, self.stop = start, end, progress, what, stop
        self.shown, self.steps, self.window_start = 0.0, 0, start
        self.begin = time.monotonic()
        in_notebook = type(sys.stderr).__module__.startswith("ipykernel")
        self.next_line = _FIRST_LINE_IN_NOTEBOOK if in_notebook else _FIRST_LINE
        self.width = 0  # of the line that is shown in a terminal

    def __enter__(self) -> Self:
        self.silence = np.errstate(over="ignore", invalid="ignore")
        self.silence.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.silence.__exit__(kind, error, at)
        if self.width:
            print("\r" + " " * self.width + "\r", end="", file=sys.stderr, flush=True)

    def tell(self, t: float) -> None:
        """Tell that the run has come to a time."""
        share = min((t - self.start) / (self.end - self.start), 1.0)
        if self.progress is None:
            self._show(share)
        elif share >= self.shown + 0.01 or share >= 1.0 > self.shown:
            self.shown = share
            self.progress(share)

    def _show(self, share: float) -> None:
        passed = time.monotonic() - self.begin
        if passed < self.next_line:
            return
        left = f"about {_spoken(passed * (1 - share) / share)} left" if share > 0 else "no estimate yet"
        line = f"{self.what}: {share:.1%} done after {_spoken(passed)}, {left}{self.stop}"
        if sys.stderr.isatty():
            self.next_line = passed + 1.0
            print("\r" + line.ljust(self.width), end="", file=sys.stderr, flush=True)
            self.width = len(line)
        else:
            self.next_line = 2 * passed
            print(line, file=sys.stderr, flush=True)

    def stalled(self, t: float) -> str | None:
        """Count a step, and return what to say if the last ones were so short that the end will never come."""
        self.steps += 1
        if self.steps % _WINDOW:
            return None
        gone, self.window_start = t - self.window_start, t
        if gone >= _LEAST_SHARE * (self.end - self.start):
            return None
        needed = f"{(self.end - t) / gone * _WINDOW:.0e}" if gone > 0 else "endlessly many"
        return (
            f"time hardly goes on: the last {_WINDOW} steps took {gone:.1e} s together, and {needed} more would be "
            f"needed. {_CAUSES}"
        )


def _spoken(seconds: float) -> str:
    """Return a duration in a unit that can be imagined."""
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
