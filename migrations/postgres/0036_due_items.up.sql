-- The time at which the server has to do something with an item: the next time of a task.
ALTER TABLE library_items ADD COLUMN due_at BIGINT;

CREATE INDEX library_items_due ON library_items (due_at) WHERE due_at IS NOT NULL;
