"""Puts the parts together for one event: settings, stores, queue, provider."""

from __future__ import annotations

from typing import Any, Final

from uketsuke.adapters.cloudflare import ffi
from uketsuke.adapters.cloudflare.d1 import D1Database
from uketsuke.adapters.cloudflare.fetch import FetchClient
from uketsuke.adapters.cloudflare.queue import CloudflareQueue
from uketsuke.adapters.cloudflare.r2 import R2Blobs
from uketsuke.adapters.cloudflare.workflows import CloudflareWorkflows
from uketsuke.adapters.cloudflare.world import SystemClock, SystemDice
from uketsuke.adapters.sql.dead_letters import SqlDeadLetters
from uketsuke.adapters.sql.inputs import SqlInputs
from uketsuke.adapters.sql.keys import SqlKeys
from uketsuke.adapters.sql.lanes import SqlLanes
from uketsuke.adapters.sql.listing import SqlListing
from uketsuke.adapters.sql.occurrences import SqlOccurrences
from uketsuke.adapters.sql.purging import SqlPurging
from uketsuke.adapters.sql.repository import Retention, SqlJobs
from uketsuke.adapters.sql.runs import SqlRuns
from uketsuke.adapters.sql.schedules import SqlSchedules
from uketsuke.adapters.sql.sweeping import SqlSweeping
from uketsuke.domain.lane import ProviderName
from uketsuke.providers.calls import Providers
from uketsuke.providers.openai_compatible import OpenAICompatible
from uketsuke.services.ports import Ports
from uketsuke.settings import read_settings

# What each Worker cannot do without.
API_NEEDS: Final = frozenset({"KEY_HASH_SECRET"})
CONSUMER_NEEDS: Final = frozenset({"MODEL_BASE_URL", "MODEL_API_KEY"})


def build_ports(env: Any, *, needs: frozenset[str]) -> Ports:
    """Build an event's ports from an entrypoint's ``env``.

    Raises ``BadSettings`` for variables that make no sense, or miss one of ``needs``.
    """
    settings = read_settings(ffi.variables(env), needs=needs)
    database = D1Database(ffi.raw_binding(env, "DB"))
    retention = Retention(
        keep_results=settings.keep_results,
        triage_within=settings.triage_within,
        grace=settings.first_wake,
        longest_knock=settings.longest_knock,
        lease=settings.lease,
    )
    return Ports(
        settings=settings,
        jobs=SqlJobs(database, retention),
        listing=SqlListing(database),
        sweeping=SqlSweeping(database, retention),
        purging=SqlPurging(database),
        runs=SqlRuns(database, retention),
        lanes=SqlLanes(database, retention),
        inputs=SqlInputs(database),
        schedules=SqlSchedules(database, keep_inputs=settings.keep_inputs),
        occurrences=SqlOccurrences(database),
        dead_letters=SqlDeadLetters(database, triage_within=settings.triage_within),
        keys=SqlKeys(database),
        blobs=R2Blobs(ffi.raw_binding(env, "BLOBS")),
        queue=CloudflareQueue(ffi.raw_binding(env, "JOBS")),
        workflows=CloudflareWorkflows(ffi.raw_binding(env, "JOB_WORKFLOW")),
        clock=SystemClock(),
        dice=SystemDice(),
    )


def build_providers(ports: Ports) -> Providers:
    """Build the providers that there are; only the consumer has their secrets."""
    settings = ports.settings
    return {
        ProviderName.OPENAI_COMPATIBLE: OpenAICompatible(
            http=FetchClient(),
            clock=ports.clock,
            base_url=settings.model_base_url,
            api_key=settings.model_api_key,
        )
    }
