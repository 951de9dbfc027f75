DROP TRIGGER library_items_created ON library_items;
DROP TRIGGER library_items_resized ON library_items;
DROP TRIGGER library_items_changed ON library_items;
DROP TRIGGER library_items_gone ON library_items;
DROP TRIGGER library_shares_begun ON library_shares;
DROP TRIGGER library_shares_ended ON library_shares;
DROP TRIGGER library_revisions_kept ON library_revisions;
DROP TRIGGER library_revisions_gone ON library_revisions;
DROP TRIGGER library_usage_begun ON library_usage;
DROP TRIGGER library_usage_changed ON library_usage;
DROP FUNCTION lathe_library_share();
DROP FUNCTION lathe_library_revision();
DROP FUNCTION lathe_library_item_creation();
DROP FUNCTION lathe_library_item_size();
DROP FUNCTION lathe_library_item_change();
DROP FUNCTION lathe_library_usage();
DROP FUNCTION lathe_note_library_change(TEXT, TEXT, TEXT, TEXT);
DROP FUNCTION lathe_use_library(TEXT, TEXT, BIGINT, BIGINT);
DROP FUNCTION lathe_library_bytes(library_items);
DROP TABLE library_changes;
DROP TABLE library_usage;
-- The previous release reads no task that failed or was cancelled. Within a text of the body, quotes are escaped.
UPDATE library_items SET
    label = CASE WHEN label IN ('failed', 'cancelled') THEN 'done' ELSE label END,
    body = replace(replace(body, '"status":"failed"', '"status":"done"'), '"status":"cancelled"', '"status":"done"'),
    content = replace(replace(content, '"status":"failed"', '"status":"done"'), '"status":"cancelled"', '"status":"done"')
WHERE family = 'tasks';
DROP INDEX agent_runs_of_items;
ALTER TABLE agent_runs DROP COLUMN item;
DROP TABLE library_revisions;
