"""JSON Pointers (RFC 6901) that are safe to send back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# A name that may be told back to whoever sent it: short, and free of what JSON cannot carry well.
_SHORT: Final = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{0,100}")


@dataclass(frozen=True, slots=True)
class Pointer:
    """A place in a document; ``str`` gives the pointer.

    A name that is too long or unprintable is not echoed: the pointer stays at the parent, and so
    do those of everything below.
    """

    text: str = ""
    exact: bool = True

    def child(self, token: str | int) -> Pointer:
        """Return the pointer to a member or an item of what this one names."""
        name = str(token)
        if not (self.exact and _SHORT.fullmatch(name)):
            return Pointer(self.text, exact=False)
        return Pointer(f"{self.text}/{name.replace('~', '~0').replace('/', '~1')}")

    def __str__(self) -> str:
        return self.text


ROOT: Final = Pointer()


def shown(name: str) -> str:
    """Return a name as a sentence can hold it."""
    return f'"{name}"' if _SHORT.fullmatch(name) else "a name too odd to repeat"
