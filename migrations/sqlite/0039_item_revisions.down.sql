DROP TRIGGER library_usage_begun;
DROP TRIGGER library_usage_changed;
DROP TRIGGER library_items_created;
DROP TRIGGER library_items_resized;
DROP TRIGGER library_items_changed;
DROP TRIGGER library_items_gone;
DROP TRIGGER library_shares_begun;
DROP TRIGGER library_shares_ended;
DROP TRIGGER library_revisions_kept;
DROP TRIGGER library_revisions_gone;
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
