"""The local model server: the provider of the local stack, without account or network.

One loopback HTTP server speaks the OpenAI routes for chat, embeddings and transcriptions, so that
the Worker runs the same adapter here as in production. It also takes fault orders and keeps a
journal of the calls that it received, so that tests can make a provider misbehave and see what it
saw. Start it with ``python -m uketsuke_local.models``, or call ``serve``.
"""

from __future__ import annotations


def __getattr__(name: str) -> object:
    # Loaded when asked for: ``python -m uketsuke_local.models.weights`` needs none of it.
    if name == "serve":
        from uketsuke_local.models.server import serve

        return serve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
