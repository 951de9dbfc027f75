//! Users, roles and keys on a running server: the permissions of each role, and how fast a revocation takes effect.

mod bearer_keys;
mod commands;
mod foreign;
mod key_passwords;
mod keys;
mod organization;
mod returning_users;
mod roles;
mod variables;
