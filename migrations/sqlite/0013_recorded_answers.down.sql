DROP TABLE recorded_answers;
