"""The doctor's side of the store: every invariant that rows can show, as a check.

Of the invariants of the lifecycle these cannot be seen in a store: that a 202 was sent only for
what was durable (1), that a late writer changed nothing and was counted (2; that it left no second
end is ``ended_twice``), what a tenant was shown (6; that no row leads to another's content is
``object_of_another_tenant``), and that no content is in messages and logs (7). Tests and the
simulator hold those.

CHECK constraints and unique indexes make some offenders impossible today. They are looked for all
the same: a migration rebuilds a table without its constraints sooner than anybody notices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.audit import record
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.adapters.sql.doctor_attempts import ATTEMPT_CHECKS
from uketsuke.adapters.sql.doctor_check import Check, Patience, find, find_targets, still
from uketsuke.adapters.sql.doctor_content import CONTENT_CHECKS, SELECT_STORED_RESULTS
from uketsuke.adapters.sql.doctor_costs import COST_CHECKS
from uketsuke.adapters.sql.doctor_guards import GUARD_CHECKS
from uketsuke.adapters.sql.doctor_jobs import JOB_CHECKS
from uketsuke.adapters.sql.doctor_leases import LEASE_CHECKS
from uketsuke.adapters.sql.doctor_letters import LETTER_CHECKS
from uketsuke.adapters.sql.doctor_pins import PIN_CHECKS
from uketsuke.adapters.sql.doctor_redrives import REDRIVE_CHECKS
from uketsuke.adapters.sql.doctor_sweep import SWEEP_CHECKS
from uketsuke.domain.audit import Act, Action
from uketsuke.domain.diagnosis import Finding, Mended, Offender, Question

CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {
        check.name: check
        for check in (
            *LEASE_CHECKS,
            *JOB_CHECKS,
            *ATTEMPT_CHECKS,
            *LETTER_CHECKS,
            *REDRIVE_CHECKS,
            *CONTENT_CHECKS,
            *PIN_CHECKS,
            *COST_CHECKS,
            *SWEEP_CHECKS,
            *GUARD_CHECKS,
        )
    }
)
_QUESTIONS: Final = MappingProxyType({name: check.question for name, check in CHECKS.items()})


class SqlDoctor:
    """``services.ports.Doctor`` on any ``Database``."""

    def __init__(self, database: Database, patience: Patience) -> None:
        self._database = database
        self._patience = patience

    @property
    def questions(self) -> Mapping[str, Question]:
        return _QUESTIONS

    async def ask(self, names: Sequence[str]) -> Sequence[Finding]:
        checks = [CHECKS[name] for name in names]
        patience = (self._patience.told,)
        answers = await self._database.batch([Statement(find(each), patience) for each in checks])
        return [_finding(each, found) for each, found in zip(checks, answers, strict=True)]

    async def repairable(self, name: str) -> Sequence[Offender]:
        check = CHECKS[name]
        return _offenders(await self._select(find_targets(check))) if check.repair else ()

    async def repair(self, name: str, offenders: Sequence[Offender], *, act: Act) -> Mended:
        check = CHECKS[name]
        assert check.repair is not None
        ids = [each.id for each in offenders]
        look = Statement(still(check), (self._patience.told, rows.dump(ids)))
        # The audit row is written whatever follows: nothing is mended without it.
        named = replace(act, detail={**act.detail, "rows": ids})
        before, _, *fixed, after = await self._database.batch(
            [
                look,
                record(named, action=Action.DOCTOR_REPAIRED, target=name, tenant_id=None),
                *check.repair.fix([each.key for each in offenders], self._patience),
                look,
            ]
        )
        left = {row["id"] for row in after}
        return Mended(
            rows=[row["id"] for row in before if row["id"] not in left],
            # Of what a fix does, only the sweep's own statements return rows: the jobs they moved.
            jobs=[rows.to_job(row) for answer in fixed for row in answer],
        )

    async def stored_results(self) -> Sequence[Offender]:
        return _offenders(await self._select(SELECT_STORED_RESULTS))

    async def _select(self, text: str) -> Sequence[Row]:
        (found,) = await self._database.batch([Statement(text, (self._patience.told,))])
        return found


def _finding(check: Check, found: Sequence[Row]) -> Finding:
    count = found[0]["found"] if found else 0
    return Finding(question=check.question, count=count, rows=[row["id"] for row in found])


def _offenders(found: Sequence[Row]) -> Sequence[Offender]:
    return [Offender(id=row["id"], key=rows.load(row["key"])) for row in found]
