DROP INDEX tokens_by_user;
DROP INDEX tokens_by_key;
DROP INDEX api_keys_by_user;
DROP INDEX api_keys_by_sequence;
ALTER TABLE api_keys DROP COLUMN sequence;
ALTER TABLE api_keys DROP COLUMN last_used_at;
ALTER TABLE api_keys DROP COLUMN expires_at;
ALTER TABLE api_keys DROP COLUMN name;
DROP INDEX members_by_sequence;
ALTER TABLE members DROP COLUMN sequence;
DROP INDEX members_by_role;
-- What a role gave is lost; only administrators keep their rights.
ALTER TABLE members ADD COLUMN permissions TEXT NOT NULL DEFAULT '[]';
UPDATE members SET permissions = '["Tool:CreateTool","Tool:ModifyTool","Tool:DeleteTool","Tool:InvokeTool","Tool:AccessRepo","Tool:GetTool","Tool:TestTool","Tool:GetInvocation","Organization:Admin"]'
    WHERE role = 'admin';
ALTER TABLE members DROP COLUMN role;
DROP TABLE roles;
