//! Users, roles and keys on a running server: what each role can do, and how fast a key ends.

mod commands;
mod foreign;
mod keys;
mod roles;
