-- What work costs: what a job may cost, what it is expected to, what it has; what each day's was.
-- Money is whole micro-dollars. Days are UTC, by the database's clock, as YYYY-MM-DD.

-- Null is the deployment's own (DAILY_BUDGET_USD).
ALTER TABLE tenants ADD COLUMN daily_budget_micros INTEGER CHECK (daily_budget_micros >= 0);

ALTER TABLE jobs ADD COLUMN max_cost_micros INTEGER CHECK (max_cost_micros > 0);

-- JSON of what its kind expected at intake: i and o (tokens in and out), a (ms of audio), n (calls).
ALTER TABLE jobs ADD COLUMN expected TEXT;

-- What counts against budgets so far: what is known, and for what is in doubt its estimate.
ALTER TABLE jobs ADD COLUMN charged_micros INTEGER NOT NULL DEFAULT 0;

-- Attempts whose cost is not known, or not whole.
ALTER TABLE jobs ADD COLUMN unknown_costs INTEGER NOT NULL DEFAULT 0;

-- Nobody knows what attempts of before have cost. Those of finished jobs are not told about at all.
UPDATE jobs
   SET unknown_costs = attempt_no - (state = 'running')
 WHERE finished_at IS NULL AND attempt_no > (state = 'running');

-- What the running attempt may cost, where a budget binds it; it ends with the lease.
ALTER TABLE jobs ADD COLUMN reserved_micros INTEGER
  CHECK (reserved_micros IS NULL OR state = 'running');

-- How often the instance of a run's attempt has begun: each life but the last may have been in a call.
ALTER TABLE jobs ADD COLUMN lives INTEGER NOT NULL DEFAULT 0;

-- What a tenant's running jobs have reserved. Others pay nothing for it.
CREATE INDEX jobs_reserved ON jobs (tenant_id, reserved_micros) WHERE reserved_micros IS NOT NULL;

-- As on jobs, for the jobs that it starts.
ALTER TABLE schedules ADD COLUMN expected TEXT;

-- One row a tenant, day, kind and model, kept for good: it is small. An attempt that called none, or
-- that nobody could ask, has '' for provider and model.
CREATE TABLE usage_days (
  tenant_id          TEXT    NOT NULL,
  day                TEXT    NOT NULL,    -- on which the attempts ended
  kind               TEXT    NOT NULL,
  provider           TEXT    NOT NULL,
  model              TEXT    NOT NULL,
  attempts           INTEGER NOT NULL,
  failed_attempts    INTEGER NOT NULL,    -- failed or lost
  input_tokens       INTEGER NOT NULL,
  output_tokens      INTEGER NOT NULL,
  audio_ms           INTEGER NOT NULL,
  cost_micros        INTEGER NOT NULL,    -- as far as it is known
  failed_cost_micros INTEGER NOT NULL,    -- of it, that of failed attempts
  charged_micros     INTEGER NOT NULL,    -- what counts against budgets
  unknown            INTEGER NOT NULL,    -- attempts whose cost is not known, or not whole
  PRIMARY KEY (tenant_id, day, kind, provider, model)
) STRICT, WITHOUT ROWID;

-- Whoever writes an attempt's row, its day gets it in the same statement: once, as the row is
-- written once. (An insert that finds the row there already does nothing, and fires nothing.)
CREATE TRIGGER attempts_usage_days AFTER INSERT ON attempts
BEGIN
  INSERT INTO usage_days (tenant_id, day, kind, provider, model, attempts, failed_attempts,
                          input_tokens, output_tokens, audio_ms, cost_micros, failed_cost_micros,
                          charged_micros, unknown)
  SELECT NEW.tenant_id, date(NEW.ended_at / 1000, 'unixepoch'), j.kind,
         coalesce(NEW.usage ->> 'provider', ''),
         coalesce(NEW.usage ->> 'asked_model', NEW.usage ->> 'model', ''),
         1,
         NEW.outcome IN ('failed', 'lost'),
         coalesce(NEW.usage ->> 'input_tokens', 0),
         coalesce(NEW.usage ->> 'output_tokens', 0),
         coalesce(NEW.usage ->> 'audio_ms', 0),
         coalesce(NEW.usage ->> 'cost_micros', 0),
         coalesce(NEW.usage ->> 'cost_micros', 0) * (NEW.outcome IN ('failed', 'lost')),
         coalesce(NEW.usage ->> 'charged_micros', 0),
         NEW.usage ->> 'cost_micros' IS NULL OR coalesce(NEW.usage ->> 'unknown_calls', 0) > 0
    FROM jobs AS j
   WHERE j.tenant_id = NEW.tenant_id AND j.id = NEW.job_id
  ON CONFLICT (tenant_id, day, kind, provider, model) DO UPDATE
     SET attempts = attempts + 1,
         failed_attempts = failed_attempts + excluded.failed_attempts,
         input_tokens = input_tokens + excluded.input_tokens,
         output_tokens = output_tokens + excluded.output_tokens,
         audio_ms = audio_ms + excluded.audio_ms,
         cost_micros = cost_micros + excluded.cost_micros,
         failed_cost_micros = failed_cost_micros + excluded.failed_cost_micros,
         charged_micros = charged_micros + excluded.charged_micros,
         unknown = unknown + excluded.unknown;
END;
