DROP TABLE damaged_packs;
DROP TABLE repositories;
