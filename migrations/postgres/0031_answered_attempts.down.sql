DROP TABLE answered_attempts;
