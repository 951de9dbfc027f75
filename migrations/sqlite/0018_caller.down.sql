ALTER TABLE inv_started DROP COLUMN caller_address;
ALTER TABLE inv_started DROP COLUMN api_key_id;
