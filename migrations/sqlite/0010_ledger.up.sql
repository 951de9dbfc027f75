-- What a run was granted, used, was refused and cost. Runs of before have none.

ALTER TABLE inv_finished ADD COLUMN ledger TEXT;
