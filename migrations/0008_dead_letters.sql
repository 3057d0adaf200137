-- Dead letters that come back: what they have in common, what was done about each, by whom and why.

-- The model that the last attempt asked; null if none was.
ALTER TABLE dead_letters ADD COLUMN model TEXT;

-- What failed in the same way bears the same fingerprint.
ALTER TABLE dead_letters ADD COLUMN fingerprint TEXT GENERATED ALWAYS AS
  (coalesce(kind, '') || ':' || class || ':' || code || ':' || coalesce(model, '')) VIRTUAL;

-- How many redrives lie before this end of the job's line. A redrive is a new job with a line of one more.
ALTER TABLE jobs ADD COLUMN redrives INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dead_letters ADD COLUMN redrives INTEGER NOT NULL DEFAULT 0;

-- The new job; and the bulk redrive that asked for it, if one did.
ALTER TABLE dead_letters ADD COLUMN redriven_to TEXT;
ALTER TABLE dead_letters ADD COLUMN redrive_id TEXT;

-- Of a message that is no job's: the hash of its body, and its bounded shape without content.
ALTER TABLE dead_letters ADD COLUMN body_sha256 TEXT;
ALTER TABLE dead_letters ADD COLUMN body_shape TEXT;

-- Lists, newest first.
CREATE INDEX dead_letters_by_time ON dead_letters (last_failed_at);

-- What waits for a person: its list, its groups and its conditions are read from this index alone.
-- So the columns of the fingerprint are in it, and not the fingerprint: whoever names a generated
-- column is taken to need the whole row.
CREATE INDEX dead_letters_open
  ON dead_letters (last_failed_at, id, kind, class, code, model, tenant_id, first_failed_at,
                   triage_due_at, status)
  WHERE status = 'open';

-- What a bulk redrive has started.
CREATE INDEX dead_letters_redrive ON dead_letters (redrive_id, redriven_to)
  WHERE redrive_id IS NOT NULL;

-- What operators and administrators did. Rows are written in the action's own transaction, and stay.
CREATE TABLE audit (
  id         TEXT    NOT NULL PRIMARY KEY,    -- sorts by time
  at         INTEGER NOT NULL,
  actor      TEXT    NOT NULL,    -- the key's id
  action     TEXT    NOT NULL,
  target     TEXT    NOT NULL,
  tenant_id  TEXT,                -- whose the target is; null if nobody's
  reason     TEXT,
  request_id TEXT    NOT NULL,
  detail     TEXT    NOT NULL     -- JSON: names and ids, no content
) STRICT, WITHOUT ROWID;

-- A tenant's own part.
CREATE INDEX audit_of_tenant ON audit (tenant_id, id) WHERE tenant_id IS NOT NULL;

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
  SELECT RAISE(ABORT, 'the audit is append-only');
END;

CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
BEGIN
  SELECT RAISE(ABORT, 'the audit is append-only');
END;

-- REPLACE would delete without firing the trigger above.
CREATE TRIGGER audit_is_not_replaced BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'the audit is append-only');
END;
