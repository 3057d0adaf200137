"""Answers of Workers AI's models, read. Their shapes are their models' own.

Sources: the schemas at developers.cloudflare.com/workers-ai/models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from uketsuke.domain.vectors import Vectors
from uketsuke.providers import openai_answers
from uketsuke.providers.embeddings import packed_rows
from uketsuke.providers.meaning import Fault, fault
from uketsuke.providers.storable import storable_answer
from uketsuke.providers.transcript import transcript_of

# Deepgram's own default for the pause between two utterances (its parameter ``utt_split``).
_PAUSE_SECONDS: Final = 0.8
# Who does not pause is cut as Whisper cuts, by its window.
_LONGEST_SECONDS: Final = 30
# Written without spaces between words.
_UNSPACED: Final = ("ja", "zh", "th")


def answer_object(answer: object) -> Mapping[str, Any]:
    if not isinstance(answer, dict):
        raise fault(Fault.NOT_JSON)
    return answer


def text_of(answer: Mapping[str, Any], *, limit: int) -> str:
    """Return a chat's text: newer models answer in OpenAI's shape, older ones ``response``.

    The older shape does not say that it was cut off; an answer as long as its limit was.
    """
    if "choices" in answer:
        return openai_answers.text_of(answer)
    text = storable_answer(answer.get("response"))
    _, tokens = openai_answers.tokens_of(answer)
    if tokens is not None and tokens >= limit:
        raise fault(Fault.CUT_OFF)
    return text


def vectors_of(answer: Mapping[str, Any], *, count: int) -> Vectors:
    """Return the vectors in ``data``, one a text, in the order of the texts."""
    rows = answer.get("data")
    return packed_rows(rows if isinstance(rows, list) else [], count=count)


def whisper_transcript_of(answer: Mapping[str, Any], *, language: str | None) -> dict[str, Any]:
    """Read Whisper: the large one tells segments and the duration, the small ones only words."""
    about = answer.get("transcription_info")
    about = about if isinstance(about, Mapping) else {}
    segments = answer.get("segments")
    if segments is None:
        segments = _utterances(answer.get("words"), glue=_glue(language))
    return transcript_of(
        text=answer.get("text"),
        language=about.get("language") or language,
        segments=segments,
        duration=about.get("duration"),
    )


def nova_transcript_of(answer: Mapping[str, Any], *, language: str | None) -> dict[str, Any]:
    """Read Deepgram's Nova: one channel's best alternative, whose words have times."""
    try:
        channel = answer["results"]["channels"][0]
        best = channel["alternatives"][0]
        text, words = best["transcript"], best.get("words")
        found = channel.get("detected_language") or language
    except (LookupError, TypeError, AttributeError):
        raise fault(Fault.TRANSCRIPT_UNFIT) from None
    about = answer.get("metadata")
    return transcript_of(
        text=text,
        language=found,
        segments=_utterances(words, glue=_glue(found)),
        duration=about.get("duration") if isinstance(about, Mapping) else None,
    )


def _glue(language: object) -> str:
    return "" if isinstance(language, str) and language.startswith(_UNSPACED) else " "


def _utterances(words: object, *, glue: str) -> list[dict[str, Any]]:
    """Join words to segments, cut where the speaker pauses."""
    if not isinstance(words, list):
        return []
    groups: list[list[Mapping[str, Any]]] = []
    try:
        for word in words:
            if not groups or _begins_anew(word, groups[-1]):
                groups.append([])
            groups[-1].append(word)
        return [_utterance(group, glue) for group in groups]
    except (LookupError, TypeError, AttributeError):
        raise fault(Fault.TRANSCRIPT_UNFIT) from None


def _begins_anew(word: Mapping[str, Any], group: Sequence[Mapping[str, Any]]) -> bool:
    start, end, first = word["start"], group[-1]["end"], group[0]["start"]
    return bool(start - end >= _PAUSE_SECONDS or start - first >= _LONGEST_SECONDS)


def _utterance(words: Sequence[Mapping[str, Any]], glue: str) -> dict[str, Any]:
    return {
        "start": words[0]["start"],
        "end": words[-1]["end"],
        "text": glue.join(word.get("punctuated_word") or word["word"].strip() for word in words),
    }
