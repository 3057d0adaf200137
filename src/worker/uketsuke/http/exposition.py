"""Figures as text that Prometheus scrapes: OpenMetrics 1.0, and the classic format (0.0.4).

They differ little: OpenMetrics names a counter without the ``_total`` of its samples, tells units,
and ends with a mark. Labels are kinds, states, classes, queues, conditions: nothing of a tenant's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

Labels = Mapping[str, str]
Value = int | float


class Format(StrEnum):
    """The two, by media type."""

    OPEN_METRICS = "application/openmetrics-text"
    CLASSIC = "text/plain"

    @property
    def content_type(self) -> str:
        version = "1.0.0" if self is Format.OPEN_METRICS else "0.0.4"
        return f"{self.value}; version={version}; charset=utf-8"


class Sort(StrEnum):
    """What a family's samples are."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One line. ``suffix`` goes behind the family's name."""

    labels: Labels
    value: Value
    suffix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Samples of one name. A unit is the last word of the name."""

    name: str
    sort: Sort
    about: str
    samples: tuple[Sample, ...]
    unit: str | None = None


_ESCAPES: Final = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def write_families(families: Iterable[Family], *, form: Format) -> str:
    """Write them all; a family without samples is left out."""
    lines = [line for family in families if family.samples for line in _lines(family, form)]
    if form is Format.OPEN_METRICS:
        lines.append("# EOF")
    return "".join(f"{line}\n" for line in lines)


def _lines(family: Family, form: Format) -> Iterator[str]:
    open_metrics = form is Format.OPEN_METRICS
    total = "_total" if family.sort is Sort.COUNTER else ""
    name = family.name if open_metrics else family.name + total
    yield f"# TYPE {name} {family.sort}"
    if open_metrics and family.unit:
        yield f"# UNIT {name} {family.unit}"
    yield f"# HELP {name} {family.about}"
    for sample in family.samples:
        labels = _write_labels(sample.labels)
        yield f"{family.name}{sample.suffix or total}{labels} {_write_value(sample.value)}"


def _write_labels(labels: Labels) -> str:
    if not labels:
        return ""
    pairs = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items())
    return f"{{{pairs}}}"


def _write_value(value: Value) -> str:
    return repr(value)
