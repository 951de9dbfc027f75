DROP TABLE library_corpora;
DROP TABLE library_scopes;
DROP TABLE library_index;
