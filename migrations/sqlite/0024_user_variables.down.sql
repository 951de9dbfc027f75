DROP TABLE user_variables;
