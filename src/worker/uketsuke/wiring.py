"""Puts the parts together for one event: settings, stores, queue, provider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uketsuke.adapters.cloudflare import ffi
from uketsuke.adapters.cloudflare.ai import CloudflareAi
from uketsuke.adapters.cloudflare.d1 import D1Database
from uketsuke.adapters.cloudflare.fetch import FetchClient
from uketsuke.adapters.cloudflare.queue import CloudflareQueue, QueueAge
from uketsuke.adapters.cloudflare.r2 import R2Blobs
from uketsuke.adapters.cloudflare.workflows import CloudflareWorkflows
from uketsuke.adapters.cloudflare.world import SystemClock, SystemDice
from uketsuke.adapters.sql.alerts import SqlAlerts
from uketsuke.adapters.sql.audit import SqlAudit
from uketsuke.adapters.sql.conditions import SqlConditions
from uketsuke.adapters.sql.costs import SqlCosts
from uketsuke.adapters.sql.dead_letters import SqlDeadLetters
from uketsuke.adapters.sql.doctor import SqlDoctor
from uketsuke.adapters.sql.doctor_check import patience_of
from uketsuke.adapters.sql.inputs import SqlInputs
from uketsuke.adapters.sql.keys import SqlKeys
from uketsuke.adapters.sql.lanes import SqlLanes
from uketsuke.adapters.sql.letter_terms import Ages
from uketsuke.adapters.sql.listing import SqlListing
from uketsuke.adapters.sql.metrics import SqlMetrics
from uketsuke.adapters.sql.money_and_lanes import SqlMoneyAndLanes
from uketsuke.adapters.sql.occurrences import SqlOccurrences
from uketsuke.adapters.sql.purging import SqlPurging
from uketsuke.adapters.sql.redrives import SqlRedrives
from uketsuke.adapters.sql.repository import Retention, SqlJobs
from uketsuke.adapters.sql.runs import SqlRuns
from uketsuke.adapters.sql.schedules import SqlSchedules
from uketsuke.adapters.sql.sweeping import SqlSweeping
from uketsuke.adapters.sql.triage import SqlTriage
from uketsuke.adapters.webhook import Webhook
from uketsuke.domain.lane import ProviderName
from uketsuke.kinds.registry import KINDS
from uketsuke.providers.calls import Providers
from uketsuke.providers.needs import AI_BINDING, needs_of
from uketsuke.providers.openai_compatible import OpenAICompatible
from uketsuke.providers.port import Provider
from uketsuke.providers.workers_ai import WorkersAi
from uketsuke.services.ports import DatabaseUse, Ports
from uketsuke.settings import Settings, read_settings


def api_needs(_settings: Settings) -> frozenset[str]:
    """Return what the API Worker cannot do without."""
    return frozenset({"KEY_HASH_SECRET"})


def consumer_needs(settings: Settings) -> frozenset[str]:
    """Return what the consumer cannot do without: that depends on whose models it asks."""
    return needs_of(settings, KINDS.values())


def build_ports(env: Any, *, needs: Callable[[Settings], frozenset[str]]) -> Ports:
    """Build an event's ports from an entrypoint's ``env``.

    Raises ``BadSettings`` for variables that make no sense, or miss one of ``needs``.
    """
    bound = {AI_BINDING: True} if ffi.is_bound(env, AI_BINDING) else {}
    settings = read_settings({**ffi.variables(env), **bound}, needs=needs)
    use = DatabaseUse()
    database = D1Database(ffi.raw_binding(env, "DB"), use)
    retention = Retention(
        keep_results=settings.keep_results,
        triage_within=settings.triage_within,
        grace=settings.first_wake,
        longest_knock=settings.longest_knock,
        lease=settings.lease,
    )
    ages = Ages.of(
        keep_inputs=settings.keep_inputs,
        keep_results=settings.keep_results,
        expiring_within=settings.expiring_within,
    )
    # Only the consumer's sweep asks it.
    dead_jobs = ffi.raw_binding(env, "DEAD_JOBS") if ffi.is_bound(env, "DEAD_JOBS") else None
    tariff = settings.tariff({name: kind.calls for name, kind in KINDS.items()})
    return Ports(
        settings=settings,
        jobs=SqlJobs(database, retention, tariff),
        listing=SqlListing(database),
        sweeping=SqlSweeping(database, retention),
        purging=SqlPurging(database),
        runs=SqlRuns(database, retention, tariff),
        costs=SqlCosts(database, retention, tariff),
        lanes=SqlLanes(database, retention),
        inputs=SqlInputs(database),
        schedules=SqlSchedules(
            database, keep_inputs=settings.keep_inputs, keep_results=settings.keep_results
        ),
        occurrences=SqlOccurrences(database),
        dead_letters=SqlDeadLetters(database, triage_within=settings.triage_within),
        triage=SqlTriage(database, ages),
        conditions=SqlConditions(database, ages),
        money_and_lanes=SqlMoneyAndLanes(
            database, daily_budget_micros=settings.daily_budget_micros
        ),
        alerts=SqlAlerts(database),
        receiver=_receiver(settings),
        doctor=SqlDoctor(database, patience_of(settings, retention)),
        audit=SqlAudit(database),
        redrives=SqlRedrives(database, tariff),
        metrics=SqlMetrics(database),
        keys=SqlKeys(database),
        blobs=R2Blobs(ffi.raw_binding(env, "BLOBS")),
        queue=CloudflareQueue(ffi.raw_binding(env, "JOBS")),
        live_queue=QueueAge(ffi.raw_binding(env, "JOBS")),
        dead_queue=QueueAge(dead_jobs),
        workflows=CloudflareWorkflows(ffi.raw_binding(env, "JOB_WORKFLOW")),
        clock=SystemClock(),
        dice=SystemDice(),
        database_use=use,
    )


def _receiver(settings: Settings) -> Webhook | None:
    url = settings.alert_webhook_url
    return Webhook(http=FetchClient(), url=url) if url else None


def build_providers(env: Any, ports: Ports) -> Providers:
    """Build the providers that there are; only the consumer has their secrets."""
    settings = ports.settings
    providers: dict[ProviderName, Provider] = {}
    if settings.model_base_url:
        providers[ProviderName.OPENAI_COMPATIBLE] = OpenAICompatible(
            http=FetchClient(),
            blobs=ports.blobs,
            clock=ports.clock,
            base_url=settings.model_base_url,
            api_key=settings.model_api_key,
            organization=settings.model_organization,
            project=settings.model_project,
        )
    if ffi.is_bound(env, AI_BINDING):
        providers[ProviderName.WORKERS_AI] = WorkersAi(
            ai=CloudflareAi(ffi.raw_binding(env, AI_BINDING)),
            blobs=ports.blobs,
            clock=ports.clock,
            gateway=settings.ai_gateway_id,
        )
    return providers
