"""``uketsuke dlq redrive`` and ``discard``: what is done about one dead letter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeAlias

import typer

from uketsuke_client.command.ending import BadInput, follow_hint
from uketsuke_client.command.option import DEFAULT_URL, Json, Key, LetterId, Reason, Url
from uketsuke_client.command.session import session
from uketsuke_client.command.source import opened

Patch: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--patch",
        metavar="JSON",
        help="What the new job has instead, as a merge patch over input, params, max_attempts, "
        "deadline_seconds and max_cost_usd. @FILE reads a file, @- standard input.",
    ),
]
Force: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Though its line was redriven three times and failed again.")
]

_HINTS: Final = {
    "run_in_progress": (
        "The dead letter stays open. Follow the live job, and redrive after its end if the work is "
        "still wanted: uketsuke status {job} --follow"
    ),
}


def redrive(
    letter_id: LetterId,
    reason: Reason,
    patch: Patch = None,
    force: Force = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Submit a dead letter's job again, as a new job with new attempts, and print its id."""
    with session(url=url, key=key, json_output=json_output) as here:
        here.aside.hints = _HINTS
        here.aside.if_unanswered = [
            "Should it have arrived all the same: said again, it starts nothing twice."
        ]
        changes = None if patch is None else _patch_in(patch)
        job = here.client.redrive(letter_id, reason=reason, patch=changes, force=force)
        here.screen.note(f"{job.kind} job {job.id}: {job.state}, redriven from {letter_id}")
        here.screen.note(follow_hint(job.id), style="dim")
        here.screen.answer(job.id)
        here.screen.document(job.raw)


def discard(
    letter_id: LetterId,
    reason: Reason,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Close a dead letter without another try. There is no way back."""
    with session(url=url, key=key, json_output=json_output) as here:
        letter = here.client.discard(letter_id, reason=reason)
        here.screen.answer(f"{letter.id}: {letter.status}")
        here.screen.document(letter.raw)


def _patch_in(given: str) -> Mapping[str, Any]:
    """Return the patch, or say why there is none in what was given."""
    text = given
    if given.startswith("@"):
        with opened(given[1:]) as stream:
            text = stream.read().decode(errors="replace")
    try:
        patch = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"--patch is not JSON: {error}") from None
    if not isinstance(patch, dict):
        raise BadInput('--patch is a JSON object, such as {"params": {"max_words": 80}}')
    return patch
