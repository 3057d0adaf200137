-- Schedules, and the occurrences that were to start a job. Times are epoch milliseconds of the
-- database's clock.

CREATE TABLE schedules (
  tenant_id    TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  generation   TEXT    NOT NULL,    -- of the row: a schedule that is made anew gets another
  cron         TEXT    NOT NULL,
  timezone     TEXT    NOT NULL,
  kind         TEXT    NOT NULL,
  params       TEXT    NOT NULL,
  input        TEXT    NOT NULL,    -- its form, its size, the uploads that it names
  content      TEXT,                -- an input that the schedule holds itself, as JSON
  run_key      TEXT,
  overlap      TEXT    NOT NULL CHECK (overlap IN ('skip', 'allow')),
  enabled      INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  next_at      INTEGER,
  last_at      INTEGER,             -- the last occurrence whose outcome is known
  last_job_id  TEXT,
  last_outcome TEXT    CHECK (last_outcome IN ('started', 'skipped')),
  PRIMARY KEY (tenant_id, name),
  CHECK ((overlap = 'allow') = (run_key IS NULL)),
  CHECK (enabled = 1 OR next_at IS NULL),
  CHECK ((last_at IS NULL) = (last_outcome IS NULL)),
  CHECK ((last_outcome IS 'started') = (last_job_id IS NOT NULL)),
  CHECK ((input ->> 'refs' IS NULL) = (content IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- The sweep's view: those that are due.
CREATE INDEX schedules_next_at ON schedules (next_at) WHERE next_at IS NOT NULL;

-- An occurrence is recorded, with the job that it is to start, before anything starts. The key lets
-- each be recorded once.
CREATE TABLE occurrences (
  tenant_id   TEXT    NOT NULL,
  schedule    TEXT    NOT NULL,
  generation  TEXT    NOT NULL,
  due_at      INTEGER NOT NULL,
  job_id      TEXT    NOT NULL,
  state       TEXT    NOT NULL CHECK (state IN ('recorded', 'started', 'skipped')),
  reason      TEXT,                 -- why it was skipped
  recorded_at INTEGER NOT NULL,
  tries       INTEGER NOT NULL DEFAULT 0,    -- how often the sweep took it up again
  PRIMARY KEY (tenant_id, schedule, due_at),
  CHECK ((state = 'skipped') = (reason IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- The sweep's view: those that were recorded and then left, by age.
CREATE INDEX occurrences_recorded_at ON occurrences (recorded_at) WHERE state = 'recorded';
