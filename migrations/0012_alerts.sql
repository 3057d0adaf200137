-- Alerts: how each objective stands, and what was said of it.

-- Whom a condition is about, where it is one of many: a tenant, a lane. A name, and no content.
ALTER TABLE conditions ADD COLUMN subject TEXT;

-- One row an objective, written when something changes. What is to be said is a step; steps are
-- numbered for good, so that the condition's name, since and the step name what is said. A try is
-- noted before it is made and when it has an end: who dies between says the same step again.
CREATE TABLE alerts (
  name        TEXT    NOT NULL PRIMARY KEY,    -- of the condition
  state       TEXT    NOT NULL CHECK (state IN ('ok', 'pending', 'firing')),
  looked_at   INTEGER NOT NULL,    -- the look that changed it last
  since       INTEGER,             -- of this firing or the last one: since when the condition held
  fired_at    INTEGER,
  cleared_at  INTEGER,             -- since when the condition holds no longer
  resolved_at INTEGER,
  step        INTEGER NOT NULL DEFAULT 0,    -- what is to be said last
  step_at     INTEGER,
  told_step   INTEGER NOT NULL DEFAULT 0,    -- what was said last
  told_at     INTEGER,
  tries       INTEGER NOT NULL DEFAULT 0,    -- to say the last step
  try_at      INTEGER,                       -- not again before
  fault       TEXT,                          -- why the last try failed
  CHECK (state <> 'firing' OR (since IS NOT NULL AND fired_at IS NOT NULL)),
  CHECK (state <> 'firing' OR resolved_at IS NULL),
  CHECK (told_step <= step)
) STRICT, WITHOUT ROWID;
