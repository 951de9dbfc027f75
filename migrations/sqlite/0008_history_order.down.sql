DROP INDEX inv_finished_by_duration;
