ALTER TABLE inv_finished DROP COLUMN ledger;
