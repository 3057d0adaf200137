-- Tenants, keys, jobs and what belongs to them. Times are epoch milliseconds of the database's clock.
-- D1 bills each row and each index entry written: every index below says what it is for.

CREATE TABLE tenants (
  id         TEXT    NOT NULL PRIMARY KEY,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- tenant_id is null for operators' and administrators' keys, which belong to no tenant.
CREATE TABLE api_keys (
  id          TEXT    NOT NULL PRIMARY KEY,
  tenant_id   TEXT,
  scopes      TEXT    NOT NULL,
  secret_hash TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  revoked_at  INTEGER
) STRICT, WITHOUT ROWID;

-- Ids sort by time, so the primary key is also a tenant's list, newest last.
CREATE TABLE jobs (
  tenant_id            TEXT    NOT NULL,
  id                   TEXT    NOT NULL,
  request_key          TEXT    NOT NULL,
  kind                 TEXT    NOT NULL,
  engine               TEXT    NOT NULL CHECK (engine IN ('queue', 'workflow')),
  origin               TEXT    NOT NULL CHECK (origin IN ('api', 'schedule', 'redrive')),
  state                TEXT    NOT NULL CHECK (state IN
                         ('accepted', 'running', 'retrying', 'succeeded', 'failed', 'canceled')),
  run_key              TEXT,
  live_run_key         TEXT,    -- run_key while the job is live
  params               TEXT    NOT NULL,
  metadata             TEXT    NOT NULL,
  input                TEXT    NOT NULL,    -- where it lies; never the content
  traceparent          TEXT,
  max_attempts         INTEGER NOT NULL CHECK (max_attempts BETWEEN 1 AND 20),
  attempts             INTEGER NOT NULL DEFAULT 0,    -- spent ones
  attempt_no           INTEGER NOT NULL DEFAULT 0,    -- the last one's number; never given back
  call_epoch           INTEGER NOT NULL DEFAULT 0,    -- moves after a definite failure of a provider
  crashes              INTEGER NOT NULL DEFAULT 0,    -- in a row
  lone_crashes         INTEGER NOT NULL DEFAULT 0,    -- of them, those with nobody else to blame
  leased_alone         INTEGER NOT NULL DEFAULT 0,
  wakes                INTEGER NOT NULL DEFAULT 0,    -- how often the sweep sent it again in vain
  created_at           INTEGER NOT NULL,
  due_at               INTEGER NOT NULL,
  wake_at              INTEGER,    -- when somebody must look at it if nobody has
  deadline_at          INTEGER NOT NULL,
  started_at           INTEGER,
  leased_at            INTEGER,
  leased_until         INTEGER,
  lease_token          TEXT,
  finished_at          INTEGER,
  expires_at           INTEGER,
  cancel_requested_at  INTEGER,
  erased_at            INTEGER,
  progress_done        INTEGER,
  progress_total       INTEGER,
  error_class          TEXT,
  error_code           TEXT,
  usage                TEXT,
  attempts_cost_micros INTEGER,
  result               TEXT,    -- where it lies; never the content
  redriven_from        TEXT,
  redriven_to          TEXT,
  PRIMARY KEY (tenant_id, id),
  CHECK ((state = 'running') = (lease_token IS NOT NULL)),
  CHECK ((lease_token IS NULL) = (leased_until IS NULL)),
  CHECK ((state IN ('succeeded', 'failed', 'canceled')) = (finished_at IS NOT NULL)),
  CHECK ((finished_at IS NULL) = (wake_at IS NOT NULL)),
  CHECK ((finished_at IS NULL) = (expires_at IS NULL)),
  CHECK (live_run_key IS NULL OR finished_at IS NULL),
  CHECK (attempts BETWEEN 0 AND max_attempts),
  CHECK (attempts <= attempt_no),
  CHECK ((state = 'succeeded') = (result IS NOT NULL)),
  CHECK (state <> 'failed' OR error_class IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- One live job a tenant and run key. On a column that only the end changes: a condition on the
-- state would rewrite the entry at each transition.
CREATE UNIQUE INDEX jobs_live_run_key ON jobs (tenant_id, live_run_key) WHERE live_run_key IS NOT NULL;

-- The sweep's view: live jobs by the time at which they must be looked at.
CREATE INDEX jobs_wake_at ON jobs (wake_at) WHERE wake_at IS NOT NULL;

-- An operator's view over all tenants, and the purge's: by age. Written once.
CREATE INDEX jobs_by_id ON jobs (id);

-- A submission's idempotency key and small input. Its key is the caller's, or the job's id if none
-- was sent, so that this one row is both the payload and the index.
CREATE TABLE submissions (
  tenant_id   TEXT NOT NULL,
  request_key TEXT NOT NULL,
  job_id      TEXT NOT NULL,
  fingerprint TEXT,
  input       TEXT,
  PRIMARY KEY (tenant_id, request_key)
) STRICT, WITHOUT ROWID;

-- One row an attempt, written once, when it is settled. A small result lies here.
CREATE TABLE attempts (
  tenant_id   TEXT    NOT NULL,
  job_id      TEXT    NOT NULL,
  number      INTEGER NOT NULL,
  lease_token TEXT    NOT NULL,
  started_at  INTEGER NOT NULL,
  ended_at    INTEGER NOT NULL,
  outcome     TEXT    NOT NULL CHECK (outcome IN
                ('succeeded', 'deferred', 'failed', 'lost', 'canceled')),
  state       TEXT    NOT NULL,    -- what became of the job
  error_class TEXT,
  error_code  TEXT,
  usage       TEXT,
  provider_ms INTEGER NOT NULL DEFAULT 0,
  result      TEXT,
  PRIMARY KEY (tenant_id, job_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letters (
  id               TEXT    NOT NULL PRIMARY KEY,    -- of the job, or of the body's hash: one each
  tenant_id        TEXT,
  job_id           TEXT,
  kind             TEXT,
  status           TEXT    NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'redriven', 'discarded')),
  road             TEXT    NOT NULL,
  class            TEXT    NOT NULL,
  code             TEXT    NOT NULL,
  attempts         INTEGER NOT NULL DEFAULT 0,
  queue            TEXT,
  message_id       TEXT,
  schema_version   INTEGER,
  first_failed_at  INTEGER NOT NULL,
  last_failed_at   INTEGER NOT NULL,
  triage_due_at    INTEGER NOT NULL,
  resolved_at      INTEGER,
  resolved_by      TEXT,
  reason           TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE inputs (
  tenant_id    TEXT    NOT NULL,
  id           TEXT    NOT NULL,
  object_key   TEXT    NOT NULL,
  bytes        INTEGER NOT NULL,
  sha256       TEXT    NOT NULL,
  content_type TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- The sweep's duties: each is done under a lease of its own that expires by itself.
CREATE TABLE duties (
  name         TEXT    NOT NULL PRIMARY KEY,
  lease_token  TEXT,
  leased_until INTEGER NOT NULL DEFAULT 0,
  done_at      INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
  name  TEXT    NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
