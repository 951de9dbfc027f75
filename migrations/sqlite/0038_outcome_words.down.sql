-- Nothing has changed.
SELECT 1;
