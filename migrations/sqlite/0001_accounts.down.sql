DROP TABLE tokens;
DROP TABLE api_keys;
DROP TABLE members;
DROP TABLE organizations;
