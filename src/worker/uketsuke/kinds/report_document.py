"""The document that a report is: its headings are ours, everything else in it is shown as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from uketsuke.domain.markdown import literal, literal_line


class _Words(NamedTuple):
    report: str
    overview: str
    source: str
    sources: str
    missing: str


_WORDS: Final = {
    "en": _Words("Report", "Overview", "Source", "Sources", "missing"),
    "ja": _Words("報告", "概要", "資料", "資料一覧", "欠落"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One source: its summary, or why there is none. ``ref`` is an id of ours."""

    number: int
    ref: str
    summary: str | None = None
    missing: str | None = None

    @property
    def entry(self) -> dict[str, object]:
        """The source as the result lists it."""
        if self.summary is not None:
            return {"ref": self.ref, "summary": self.summary}
        return {"ref": self.ref, "missing": self.missing}


def write_report(
    sections: Sequence[Section], *, title: str | None, overview: str, language: str
) -> str:
    """Return the report: title, overview, a section a source, and the list of all of them."""
    words = _WORDS.get(language.partition("-")[0].lower(), _WORDS["en"])
    parts = [
        f"# {literal_line(title or '') or words.report}",
        f"## {words.overview}",
        literal(overview),
    ]
    for section in sections:
        if section.summary is not None:
            parts += [f"## {words.source} {section.number}", literal(section.summary)]
    parts += [f"## {words.sources}", "\n".join(_line(section, words) for section in sections)]
    return "\n\n".join(parts) + "\n"


def _line(section: Section, words: _Words) -> str:
    why = "" if section.missing is None else f" ({words.missing}: {literal_line(section.missing)})"
    return f"{section.number}. `{section.ref}`{why}"
