-- A bulk redrive that is asked for again, because the answer was lost, is known by the name that its
-- caller gave the request. Nothing ever deletes a bulk redrive, so a name stands for good.

ALTER TABLE redrives ADD COLUMN idempotency_key TEXT;    -- null: it was not named

-- Of each key of the API its own names.
CREATE UNIQUE INDEX redrives_idempotency_key ON redrives (created_by, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
