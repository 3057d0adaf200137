"""What the services need to know when somebody must be told, and to tell them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from uketsuke.domain.alert import Alert, DeliveryFault, Standing
from uketsuke.domain.outlook import Denied, Spending


class MoneyAndLanes(Protocol):
    """What today costs, and which models do not know us."""

    async def now(self) -> tuple[Spending, Denied]: ...


class Alerts(Protocol):
    """How the alerts stand, and what was said of them."""

    async def standing(self) -> Sequence[Standing]:
        """Return every condition that is kept, by name, with its alert."""
        ...

    async def look(self) -> tuple[datetime, Sequence[Standing]]:
        """Return the same, and when that was, by the database's clock."""
        ...

    async def keep(self, changed: Sequence[Alert], *, forget: Collection[str]) -> Collection[str]:
        """Keep how alerts stand, but for those to ``forget``: they are no objectives any more.

        Returns the names of those that were kept: an older look does not undo a later one.
        """
        ...

    async def trying(
        self, said: Sequence[Alert], *, first_wait: timedelta, longest_wait: timedelta
    ) -> None:
        """Note, before it is done, that these steps are said; until when not to try again.

        The wait doubles with each try at the same step.
        """
        ...

    async def told(self, said: Sequence[Alert]) -> None: ...

    async def not_told(self, said: Sequence[Alert], fault: DeliveryFault) -> None: ...


class Receiver(Protocol):
    """Who is told."""

    async def tell(self, message: Mapping[str, object]) -> DeliveryFault | None:
        """Hand the message over; return why that failed. After a fault it may have arrived."""
        ...
