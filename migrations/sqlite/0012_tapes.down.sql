DROP TABLE tape_body_uses;
DROP TABLE tape_bodies;
DROP TABLE tapes;
