DROP TABLE inv_text;
DROP TABLE inv_open;
DROP TABLE inv_unlinked;
DROP TABLE inv_finished;
DROP TABLE inv_started;
