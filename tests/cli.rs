//! The commands of `lathe`, as people and scripts use them.

mod backup;
mod commands;
mod completion;
mod constraints;
mod demo;
mod errors;
mod export;
mod gc;
mod git_credential;
mod local;
mod local_messages;
mod machine;
mod migrate;
mod migrate_storage;
mod mistakes;
mod organizations;
mod private;
mod profiles;
mod publish;
mod reference;
mod registries;
mod suggestions;
mod tables;
mod usage;
mod variables;
