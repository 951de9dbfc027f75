-- The index of SQLite finds a word in any of its columns with one look. Nothing changes.
SELECT 1;
