-- The previous release reads no task that failed or was cancelled. Within a text of the body, quotes are escaped.
UPDATE library_items SET
    label = CASE WHEN label IN ('failed', 'cancelled') THEN 'done' ELSE label END,
    body = replace(replace(body, '"status":"failed"', '"status":"done"'), '"status":"cancelled"', '"status":"done"')
WHERE family = 'tasks' AND (body LIKE '%"status":"failed"%' OR body LIKE '%"status":"cancelled"%');
DROP INDEX agent_runs_of_items;
ALTER TABLE agent_runs DROP COLUMN item;
DROP TABLE library_revisions;
