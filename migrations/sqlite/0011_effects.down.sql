DROP TABLE inv_effects;
