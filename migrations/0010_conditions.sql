-- What is worth an alert, as the sweep saw it last; and the end of resolved dead letters.

CREATE TABLE conditions (
  name        TEXT    NOT NULL PRIMARY KEY,
  value       INTEGER,             -- null where nobody tells
  bound       INTEGER NOT NULL,    -- it holds while the value is above
  compared_to INTEGER,             -- what the value was a while ago, where that matters
  since       INTEGER,             -- since when it holds; null while it does not
  computed_at INTEGER NOT NULL,
  CHECK ((since IS NOT NULL) = (value IS NOT NULL AND value > bound))
) STRICT, WITHOUT ROWID;

-- What the purge looks for. Open letters stay, however old: without this index it would read
-- through them every minute. An act on a letter writes one row more for it.
CREATE INDEX dead_letters_resolved_at ON dead_letters (resolved_at) WHERE resolved_at IS NOT NULL;
