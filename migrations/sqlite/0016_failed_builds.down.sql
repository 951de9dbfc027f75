DROP INDEX builds_failed;
