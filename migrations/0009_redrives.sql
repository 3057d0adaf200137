-- Bulk redrives: what was asked, how far each has come, and how it ended. What it has started stands
-- in the dead letters themselves (redrive_id): what is counted is read from there.

CREATE TABLE redrives (
  id                 TEXT    NOT NULL PRIMARY KEY,    -- sorts by time
  state              TEXT    NOT NULL CHECK (state IN ('canary', 'running', 'stopped', 'done')),
  filter_class       TEXT,
  filter_kind        TEXT,
  filter_fingerprint TEXT,
  filter_tenant      TEXT,
  filter_before      INTEGER,
  reason             TEXT    NOT NULL,
  rate_per_minute    INTEGER NOT NULL CHECK (rate_per_minute > 0),
  canary             INTEGER NOT NULL CHECK (canary >= 0),
  total              INTEGER NOT NULL,    -- open letters that fitted when it was asked for
  created_at         INTEGER NOT NULL,    -- letters of later failures are not its own
  created_by         TEXT    NOT NULL,
  request_id         TEXT    NOT NULL,
  seen_at            INTEGER NOT NULL DEFAULT -1,    -- the last letter that was decided on
  seen_id            TEXT    NOT NULL DEFAULT '',
  all_seen           INTEGER NOT NULL DEFAULT 0 CHECK (all_seen IN (0, 1)),
  tries              INTEGER NOT NULL DEFAULT 0,     -- ticks in a row that broke off at the next one
  paced_at           INTEGER NOT NULL,    -- what may be started for the time before is used up
  looked_at          INTEGER NOT NULL,
  turn               TEXT,                -- the tick that goes on with it; others keep away
  stopped_because    TEXT,
  stopped_detail     TEXT,
  stopped_by         TEXT,                -- a person's key; null if it has stopped by itself
  finished_at        INTEGER,
  closed_at          INTEGER,             -- nothing of it is under way any more: what was counted then
  started            INTEGER,
  succeeded          INTEGER,
  failed             INTEGER,
  canceled           INTEGER,
  CHECK ((state IN ('stopped', 'done')) = (finished_at IS NOT NULL)),
  CHECK ((state = 'stopped') = (stopped_because IS NOT NULL)),
  CHECK (closed_at IS NULL OR finished_at IS NOT NULL),
  CHECK ((closed_at IS NULL) = (started IS NULL)),
  CHECK ((started IS NULL) = (succeeded IS NULL)),
  CHECK ((started IS NULL) = (failed IS NULL)),
  CHECK ((started IS NULL) = (canceled IS NULL))
) STRICT, WITHOUT ROWID;

-- The sweep's view: those that it must look at, the one that has waited longest first.
CREATE INDEX redrives_looked_at ON redrives (looked_at) WHERE closed_at IS NULL;

-- Letters that a bulk redrive has passed over and left open, and why. A row each, so that one that
-- is passed over twice, because the first answer was lost, counts once.
CREATE TABLE redrive_skips (
  redrive_id TEXT NOT NULL,
  letter_id  TEXT NOT NULL,
  reason     TEXT NOT NULL,
  PRIMARY KEY (redrive_id, letter_id)
) STRICT, WITHOUT ROWID;
