"""What happened in a history, with virtual times, for whoever has to understand a failure."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


class Broken(AssertionError):
    """An invariant does not hold. ``rule`` is its short name."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(f"{rule}: {text}")
        self.rule = rule


@dataclass(slots=True)
class Trace:
    """A time-stamped list of events, and how often each interesting thing happened."""

    now: Callable[[], float]
    lines: list[tuple[float, str]] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    broken: list[Broken] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.lines.append((self.now(), text))

    def count(self, situation: str) -> None:
        """Note that an interesting situation came about."""
        self.seen[situation] += 1

    def breach(self, rule: str, text: str) -> None:
        """Record that an invariant does not hold; the history goes on to its end."""
        self.note(f"!!! {rule}: {text}")
        self.broken.append(Broken(rule, text))

    def require(self, condition: object, rule: str, text: str) -> None:
        if not condition:
            self.breach(rule, text)

    def render(self) -> str:
        return "\n".join(f"{at:10.3f}  {text}" for at, text in self.lines)


class TelemetryTap(io.StringIO):
    """Stands in for stdout: the product's log lines become part of the trace."""

    def __init__(self, trace: Trace, *, secret: str) -> None:
        super().__init__()
        self._trace = trace
        self._secret = secret
        self._told: set[tuple[object, object]] = set()

    def write(self, text: str) -> int:
        if text != "\n":
            self._take(text)
        return len(text)

    def _take(self, text: str) -> None:
        self._trace.require(self._secret not in text, "no-content-in-logs", text)
        line = json.loads(text)
        name = line.pop("event")
        line.pop("level", None)
        self._tell_once(name, line)
        self._trace.count(f"event:{name}")
        told = " ".join(f"{key}={_short(value)}" for key, value in line.items())
        self._trace.note(f"log {name} {told}")
        # The engine gave a step up whose isolate died each time: that has no name of ours.
        if name == "unexpected_error" and line.get("error.type") != "StepGivenUp":
            self._trace.breach("no-unexpected-error", told)

    def _tell_once(self, name: str, line: Mapping[str, object]) -> None:
        """A line may get lost with its isolate; but what happens once is never told twice."""
        job = line.get("job_id")
        if name == "job_leased":
            what: tuple[object, object] = (job, line["attempt"])
        elif name in _ENDS:
            what = (job, "its end")
        else:
            return
        self._trace.require(what not in self._told, "no-transition-is-told-twice", f"{name} {job}")
        self._told.add(what)


_ENDS = ("job_succeeded", "job_failed", "job_canceled")


def _short(value: object) -> str:
    """Ids are told apart by their ends."""
    text = str(value)
    return f"…{text[-5:]}" if text.startswith("job_") else text


def name_of(job_id: str) -> str:
    """Return the short name of a job in traces."""
    return _short(job_id)
