"""The mutations of what is done about dead letters: each takes one guard out of the product."""

from __future__ import annotations

from typing import Final

from tests.simulation.mutation_list import Mutation

_SQL = "src/worker/uketsuke/adapters/sql"
_ACCEPT = f"{_SQL}/accept_statements.py"
_BULK = f"{_SQL}/bulk_statements.py"
_BURIAL = f"{_SQL}/burial.py"
_REDRIVE = f"{_SQL}/redrive_statements.py"
_SERVICES = "src/worker/uketsuke/services"

LETTER_MUTATIONS: Final = (
    Mutation(
        "a letter is redriven though it is not open",
        _ACCEPT,
        "WHERE d.id = ?22 AND d.tenant_id = ?1 AND d.status = 'open'))",
        "WHERE d.id = ?22 AND d.tenant_id = ?1))",
    ),
    Mutation(
        "a letter is resolved though its redrive was not written",
        _REDRIVE,
        "AND status = 'open'\n   AND EXISTS (SELECT 1 FROM jobs WHERE jobs.tenant_id = ?1 "
        "AND jobs.id = ?2)\n",
        "AND status = 'open'\n",
    ),
    Mutation(
        "a redriven job does not name its redrive",
        f"{_SQL}/resolving.py",
        "        Statement(sql.LINK_REDRIVEN, (*new, origin.letter_id, origin.job_id)),\n",
        "",
    ),
    Mutation(
        "an act on a letter that is resolved is on record",
        _REDRIVE,
        " WHERE d.id = ?4 AND d.status = 'open'\n",
        " WHERE d.id = ?4\n",
    ),
    Mutation(
        "an act that was refused is on record",
        _REDRIVE,
        "   AND (?8 IS NULL\n",
        "   AND (true\n",
    ),
    Mutation(
        "a letter is discarded though it was redriven",
        _REDRIVE,
        " WHERE id = ?1 AND status = 'open'\nRETURNING",
        " WHERE id = ?1\nRETURNING",
    ),
    Mutation(
        "a letter that is written again is open again",
        _BURIAL,
        "ON CONFLICT DO NOTHING",
        "ON CONFLICT DO UPDATE SET status = 'open'",
    ),
    Mutation(
        "a letter forgets its line",
        _BURIAL,
        "{job}.attempts, {job}.redrives,",
        "{job}.attempts, 0,",
    ),
    Mutation(
        "a long line needs no force",
        f"{_SERVICES}/redrive.py",
        "if letter.redrives >= REDRIVES_BEFORE_FORCE and not forced:",
        "if False:",
    ),
    Mutation(
        "uploads are not held for who names them",
        f"{_SQL}/repository.py",
        "        accepting.append(Statement(accept.PIN_UPLOADS, pin))\n",
        "",
    ),
    Mutation(
        "a redrive does not look whether its uploads are there",
        _ACCEPT,
        "FROM json_each(?15) AS named",
        "FROM json_each(CASE WHEN ?22 IS NULL THEN ?15 ELSE '[]' END) AS named",
    ),
    Mutation(
        "a message of a job that does not exist leaves no record",
        f"{_SERVICES}/revive.py",
        "await bury_unknown(key, delivery, ports=ports)",
        "pass",
    ),
    Mutation(
        "a bulk redrive takes up what failed after its start",
        _BULK,
        "           AND d.last_failed_at < min(r.created_at, "
        "coalesce(r.filter_before, r.created_at))\n",
        "",
    ),
    Mutation(
        "a bulk redrive goes on after its stop",
        _ACCEPT,
        "EXISTS (SELECT 1 FROM redrives WHERE id = ?24 AND state IN ('canary', 'running')))",
        "true)",
    ),
    Mutation(
        "a bulk redrive passes by what its time did not allow",
        f"{_SERVICES}/redrives.py",
        "    whole = walk.place == last and not walk.broken\n",
        "    whole = not walk.broken\n",
    ),
    Mutation(
        "a bulk redrive passes by what it could not ask about",
        f"{_SERVICES}/redrive_page.py",
        "        return self.unreadable or self.away\n",
        "        return False\n",
    ),
    Mutation(
        "a bulk redrive says nothing of what it passes over",
        f"{_SQL}/redrives.py",
        "[Statement(sql.INSERT_SKIPS, (*ours, skips)), moving]",
        "[moving, moving]",
    ),
    Mutation(
        "a bulk redrive does not use its time up",
        _BULK,
        "UPDATE redrives SET paced_at = ?3 WHERE",
        "UPDATE redrives SET paced_at = min(paced_at, ?3) WHERE",
    ),
    Mutation(
        "a bulk redrive does not wait for its canaries",
        f"{_SERVICES}/redrives.py",
        "    if turn.under_way:\n        return 0\n    stopping",
        "    stopping",
    ),
    Mutation(
        "a bulk redrive does not see what of it is under way",
        f"{_SQL}/bulk_standing.py",
        "WHERE d.redrive_id = ?1 AND j.finished_at IS NULL\n",
        "WHERE d.redrive_id = ?1 AND false\n",
    ),
)
