-- Whether secrets are taken out of what callers of this organisation are answered; what is stored never has them.

ALTER TABLE organizations ADD COLUMN redact_answers INTEGER NOT NULL DEFAULT 1;
