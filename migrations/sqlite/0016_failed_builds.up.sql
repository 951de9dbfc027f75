-- Finds failed builds by age, so that old ones can be deleted without a look at their logs.

CREATE INDEX builds_failed ON builds (finished_at) WHERE state = 'failed';
