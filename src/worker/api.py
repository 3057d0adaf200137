"""The API Worker's entry: HTTP. No logic here."""

from __future__ import annotations

from typing import Any

from workers import WorkerEntrypoint

from uketsuke.handlers.fetch import handle_request


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        return await handle_request(request.js_object, self.env)
