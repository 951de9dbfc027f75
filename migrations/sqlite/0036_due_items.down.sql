DROP INDEX library_items_due;
ALTER TABLE library_items DROP COLUMN due_at;
