-- Lanes that are parked: a provider's model that has turned us away. No row means that it is open.

-- Once the time is over, one job probes it: the probe's lease token says which attempt. Until then the
-- probe's columns name who failed there last, and may ask again first.
CREATE TABLE lanes (
  lane         TEXT    NOT NULL PRIMARY KEY,    -- provider/model
  parked_at    INTEGER NOT NULL,
  parked_until INTEGER NOT NULL,
  forget_at    INTEGER NOT NULL,    -- long over by then: it counts as open again
  class        TEXT    NOT NULL,    -- of the last failure there, with its code
  code         TEXT    NOT NULL,
  failures     INTEGER NOT NULL CHECK (failures > 0),    -- the first one, and those of probes
  backoff_ms   INTEGER NOT NULL,    -- our own wait after the last of them, whatever was asked for
  failed_token TEXT    NOT NULL,    -- of the attempt whose failure was counted last
  probe_tenant TEXT    NOT NULL,
  probe_job    TEXT    NOT NULL,
  probe_token  TEXT    NOT NULL,
  CHECK (parked_at <= parked_until AND parked_until <= forget_at)
) STRICT, WITHOUT ROWID;
