-- Runs that last: what a Workflow's attempt may take, what it has done so far, what must be stopped.

-- How long one attempt may take. A running row that is older (and a lease) has outlived its limit.
ALTER TABLE jobs ADD COLUMN run_limit_ms INTEGER NOT NULL DEFAULT 300000;

-- What a step brought, written once; it outlives the attempt and the instance that paid for it.
-- Small content lies here, large in an object under the job's prefix.
CREATE TABLE checkpoints (
  tenant_id  TEXT    NOT NULL,
  job_id     TEXT    NOT NULL,
  step       TEXT    NOT NULL,
  digest     TEXT    NOT NULL,    -- of what the step was given
  attempt    INTEGER NOT NULL,    -- that paid for it
  content    TEXT,
  object_key TEXT,
  usage      TEXT,
  PRIMARY KEY (tenant_id, job_id, step, digest),
  CHECK ((content IS NULL) <> (object_key IS NULL))
) STRICT, WITHOUT ROWID;

-- Instances whose run is over by the row's word, and that may not know it: the sweep ends them.
CREATE TABLE doomed_instances (
  id        TEXT    NOT NULL PRIMARY KEY,
  doomed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
