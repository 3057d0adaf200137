"""What a route's function is given beside the request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from uketsuke.domain.api_key import Caller
from uketsuke.http.problem import refuse
from uketsuke.kinds.kind import Kind
from uketsuke.services.ports import Ports
from uketsuke.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One request's surroundings. The caller has a scope that the route wants."""

    caller: Caller
    ports: Ports
    kinds: Mapping[str, Kind]
    request_id: str
    traceparent: str

    @property
    def settings(self) -> Settings:
        return self.ports.settings

    @property
    def tenant_id(self) -> str:
        """The caller's tenant. Raises ``Refused`` for those who belong to none."""
        if self.caller.tenant_id is None:
            raise refuse("forbidden", "This takes a key of a tenant.")
        return self.caller.tenant_id
