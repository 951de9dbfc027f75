ALTER TABLE organizations DROP COLUMN redact_answers;
