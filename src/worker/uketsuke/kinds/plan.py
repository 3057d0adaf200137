"""How work is done by this deployment: its engine, its limit, what it is expected to use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from uketsuke.domain.job import InputForm, Rework
from uketsuke.domain.lifecycle import Engine
from uketsuke.kinds.kind import Kind
from uketsuke.settings import Settings


def run_limit(kind: Kind, engine: Engine, settings: Settings) -> timedelta:
    """Return how long one attempt may take."""
    if engine is Engine.QUEUE:
        return settings.attempt_limit
    return min(kind.run_limit, settings.longest_run)


def rework(
    name: str,
    form: InputForm,
    size: int,
    params: Mapping[str, object],
    *,
    kinds: Mapping[str, Kind],
    settings: Settings,
) -> Rework | None:
    """Plan work that was accepted before; None if this deployment would not take it any more."""
    kind = kinds.get(name)
    if kind is None or form not in kind.forms or size > kind.max_input_bytes:
        return None
    if not params.keys() <= {field.encode_name for field in msgspec.structs.fields(kind.params)}:
        return None  # to leave a parameter out that was asked for would be other work
    try:
        known = msgspec.convert(params, kind.params)
    except msgspec.ValidationError:
        return None
    engine = kind.engine(form, size)
    return Rework(
        engine=engine,
        run_limit=run_limit(kind, engine, settings),
        expected=kind.expects(form, size, known),
    )
