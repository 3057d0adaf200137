"""A package of the Worker's own, found without a `src.` prefix."""

from pack.inner import NAME as NAME
