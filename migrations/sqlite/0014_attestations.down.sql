DROP TABLE attestations;
DROP TABLE signing_keys;
