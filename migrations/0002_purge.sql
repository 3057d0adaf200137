-- What the purge looks for. An upload is written once, and its time moves when a job pins it.
CREATE INDEX inputs_expires_at ON inputs (expires_at);
