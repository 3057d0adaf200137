"""JSON Merge Patch (RFC 7396): what a document is after a patch, and which parts are its doing."""

from __future__ import annotations

from collections.abc import Sequence


def merged(target: object, patch: object) -> object:
    """Return the target after the patch. Neither is changed.

    An object merges member by member, null removes, anything else takes the target's place.
    """
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def names_nothing(patch: object) -> bool:
    """Say whether a patch is objects alone, which give no place a value and take none away."""
    return isinstance(patch, dict) and all(map(names_nothing, patch.values()))


def decides(patch: object, place: Sequence[str]) -> bool:
    """Say whether a patch names a place of the result, so that what is there, or not, is its doing.

    ``place`` is the way down from the root: names of members, and the numbers of items.
    """
    for name in place:
        if not isinstance(patch, dict):  # it put this here whole, with all that is below
            return True
        if name not in patch:
            return False
        patch = patch[name]
    return True
