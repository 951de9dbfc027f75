-- Who called: the API key, and the address at the other end of the connection. Runs of earlier releases have neither.

ALTER TABLE inv_started ADD COLUMN api_key_id TEXT;
ALTER TABLE inv_started ADD COLUMN caller_address TEXT;
