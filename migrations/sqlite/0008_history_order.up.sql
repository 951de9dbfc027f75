-- The history in the order of how long runs took, without looking at all of it.

CREATE INDEX inv_finished_by_duration ON inv_finished (organization, duration_ms);
