-- Finished jobs whose results a schedule names: they are kept until it names them no more, as uploads
-- are (the number is the end of the year 9999). No other job is in the index, so none pays for it.
CREATE INDEX jobs_pinned ON jobs (tenant_id, id) WHERE expires_at = 253402300799999;
