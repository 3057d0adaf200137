-- Figures over time: what attempts and ends add up to a day, and points a minute, an hour and a day.
-- What a job's accept, lease and successful end write does not grow: the sums lie in rows that are
-- written anyway. Only a job that fails or is canceled writes one row more.

-- Attempts that ended their job as succeeded; attempts that failed and are to be followed by another.
ALTER TABLE usage_days ADD COLUMN succeeded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN retried INTEGER NOT NULL DEFAULT 0;

-- How long the attempts waited in the queue and ran, in all; and how many of them how long: JSON of
-- upper bounds in ms in steps of 1, 2, 5, those of waits with q in front, those of runs with r. (A
-- name that begins with a digit would be taken for a place in a list.)
ALTER TABLE usage_days ADD COLUMN waited_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN ran_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN spans TEXT NOT NULL DEFAULT '{}';

-- The days that are not over yet hold all attempts, those from before there were sums, too: their cost
-- is not known, and no budget minds them. Where attempts are gone already, the sums know better.
INSERT INTO usage_days (tenant_id, day, kind, provider, model, attempts, failed_attempts,
                        input_tokens, output_tokens, audio_ms, cost_micros, failed_cost_micros,
                        charged_micros, unknown)
SELECT a.tenant_id, date(a.ended_at / 1000, 'unixepoch'), j.kind,
       coalesce(a.usage ->> 'provider', ''),
       coalesce(a.usage ->> 'asked_model', a.usage ->> 'model', ''),
       count(*),
       sum(a.outcome IN ('failed', 'lost')),
       sum(coalesce(a.usage ->> 'input_tokens', 0)),
       sum(coalesce(a.usage ->> 'output_tokens', 0)),
       sum(coalesce(a.usage ->> 'audio_ms', 0)),
       0, 0, 0,
       count(*)
  FROM attempts AS a
  JOIN jobs AS j ON j.tenant_id = a.tenant_id AND j.id = a.job_id
 WHERE date(a.ended_at / 1000, 'unixepoch') >= date('now', '-1 day')
 GROUP BY 1, 2, 3, 4, 5
ON CONFLICT (tenant_id, day, kind, provider, model) DO UPDATE
   SET unknown = unknown + max(0, excluded.attempts - attempts),
       attempts = max(attempts, excluded.attempts),
       failed_attempts = max(failed_attempts, excluded.failed_attempts),
       input_tokens = max(input_tokens, excluded.input_tokens),
       output_tokens = max(output_tokens, excluded.output_tokens),
       audio_ms = max(audio_ms, excluded.audio_ms);

-- The roll-up reads two days of all tenants. Only a row that is new writes an entry.
CREATE INDEX usage_days_by_day ON usage_days (day);

-- As in 0006, with the columns from above. A wait begins when the job was due, or when an earlier
-- attempt ended that the job was taken over from.
DROP TRIGGER attempts_usage_days;
CREATE TRIGGER attempts_usage_days AFTER INSERT ON attempts
BEGIN
  INSERT INTO usage_days (tenant_id, day, kind, provider, model, attempts, failed_attempts,
                          input_tokens, output_tokens, audio_ms, cost_micros, failed_cost_micros,
                          charged_micros, unknown, succeeded, retried, waited_ms, ran_ms, spans)
  SELECT NEW.tenant_id, date(NEW.ended_at / 1000, 'unixepoch'), kind,
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
         NEW.usage ->> 'cost_micros' IS NULL OR coalesce(NEW.usage ->> 'unknown_calls', 0) > 0,
         NEW.outcome = 'succeeded',
         NEW.outcome = 'failed' AND NEW.state = 'retrying',
         waited,
         ran,
         json_object('q' || CASE WHEN waited <= wait_unit THEN wait_unit
                                 WHEN waited <= 2 * wait_unit THEN 2 * wait_unit
                                 WHEN waited <= 5 * wait_unit THEN 5 * wait_unit
                                 ELSE 10 * wait_unit END, 1,
                     'r' || CASE WHEN ran <= run_unit THEN run_unit
                                 WHEN ran <= 2 * run_unit THEN 2 * run_unit
                                 WHEN ran <= 5 * run_unit THEN 5 * run_unit
                                 ELSE 10 * run_unit END, 1)
    FROM (SELECT kind, waited, ran,
                 -- The power of ten below; nothing is told apart below 10 ms.
                 CAST(substr('1000000000000000', 1, length(max(waited, 10))) AS INTEGER) AS wait_unit,
                 CAST(substr('1000000000000000', 1, length(max(ran, 10))) AS INTEGER) AS run_unit
            FROM (SELECT j.kind,
                         max(0, NEW.started_at
                                - CASE NEW.number WHEN 1 THEN j.due_at ELSE
                                  max(j.due_at,
                                      coalesce((SELECT a.ended_at
                                                  FROM attempts AS a
                                                 WHERE a.tenant_id = NEW.tenant_id
                                                   AND a.job_id = NEW.job_id
                                                   AND a.number = NEW.number - 1), 0)) END) AS waited,
                         max(0, NEW.ended_at - NEW.started_at) AS ran
                    FROM jobs AS j
                   WHERE j.tenant_id = NEW.tenant_id AND j.id = NEW.job_id))
   WHERE true
  ON CONFLICT (tenant_id, day, kind, provider, model) DO UPDATE
     SET attempts = attempts + 1,
         failed_attempts = failed_attempts + excluded.failed_attempts,
         input_tokens = input_tokens + excluded.input_tokens,
         output_tokens = output_tokens + excluded.output_tokens,
         audio_ms = audio_ms + excluded.audio_ms,
         cost_micros = cost_micros + excluded.cost_micros,
         failed_cost_micros = failed_cost_micros + excluded.failed_cost_micros,
         charged_micros = charged_micros + excluded.charged_micros,
         unknown = unknown + excluded.unknown,
         succeeded = succeeded + excluded.succeeded,
         retried = retried + excluded.retried,
         waited_ms = waited_ms + excluded.waited_ms,
         ran_ms = ran_ms + excluded.ran_ms,
         spans = (SELECT json_set(usage_days.spans,
                                  '$.' || q.key, coalesce(usage_days.spans ->> q.key, 0) + 1,
                                  '$.' || r.key, coalesce(usage_days.spans ->> r.key, 0) + 1)
                    FROM json_each(excluded.spans) AS q, json_each(excluded.spans) AS r
                   WHERE q.key < r.key);
END;

-- Jobs that ended without success, by day and class: not every end of theirs is an attempt's. Kept
-- for good: it is small.
CREATE TABLE ends_days (
  day   TEXT    NOT NULL,    -- on which the jobs ended
  kind  TEXT    NOT NULL,
  state TEXT    NOT NULL CHECK (state IN ('failed', 'canceled')),
  class TEXT    NOT NULL,    -- of the failure; '' for canceled ones
  jobs  INTEGER NOT NULL,
  PRIMARY KEY (day, kind, state, class)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER jobs_ends_days AFTER UPDATE OF state ON jobs
WHEN NEW.state IN ('failed', 'canceled') AND OLD.state <> NEW.state
BEGIN
  INSERT INTO ends_days (day, kind, state, class, jobs)
  VALUES (date(NEW.finished_at / 1000, 'unixepoch'), NEW.kind, NEW.state,
          CASE NEW.state WHEN 'failed' THEN NEW.error_class ELSE '' END, 1)
  ON CONFLICT (day, kind, state, class) DO UPDATE SET jobs = jobs + 1;
END;

-- What was counted in a minute, an hour or a day, by kind: JSON of figures. Under the kind '' is
-- what the sweep saw of all kinds at once.
CREATE TABLE metrics_points (
  step    TEXT    NOT NULL CHECK (step IN ('minute', 'hour', 'day')),
  at      INTEGER NOT NULL,    -- when it begins
  kind    TEXT    NOT NULL,
  figures TEXT    NOT NULL,
  PRIMARY KEY (step, at, kind)
) STRICT, WITHOUT ROWID;

-- How far the roll-up is: one row. It adds to the points what is more than it has seen, once: whoever
-- stores must name the revision that was read.
CREATE TABLE metrics_state (
  id         INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  revision   INTEGER NOT NULL,
  rolled_at  INTEGER NOT NULL,
  usage_rows INTEGER NOT NULL,    -- of usage_days, that were read
  seen       TEXT    NOT NULL,    -- JSON of the sums: day to kind to figures
  live       TEXT    NOT NULL,    -- JSON of live jobs: kind to how many
  totals     TEXT    NOT NULL,    -- JSON of all that was ever counted: kind to figures
  gauges     TEXT    NOT NULL     -- JSON of what the sweep saw of the moment
) STRICT;

-- What was before is not told about, for not all of it is known.
INSERT INTO metrics_state (id, revision, rolled_at, usage_rows, seen, live, totals, gauges)
SELECT 1, 0, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 0,
       (SELECT json_group_object(day, json(kinds))
          FROM (SELECT day, json_group_object(kind, json(figures)) AS kinds
                  FROM (SELECT day, kind,
                               json_object('attempts', sum(attempts),
                                           'failed_attempts', sum(failed_attempts),
                                           'cost_micros', sum(cost_micros),
                                           'failed_cost_micros', sum(failed_cost_micros),
                                           'unknown_costs', sum(unknown)) AS figures
                          FROM usage_days
                         WHERE day >= date('now', '-1 day')
                         GROUP BY day, kind)
                 GROUP BY day)),
       (SELECT json_group_object(kind, jobs)
          FROM (SELECT kind, count(*) AS jobs FROM jobs WHERE wake_at IS NOT NULL GROUP BY kind)),
       '{}', '{}';
