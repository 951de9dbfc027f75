//! Calls of tools: their inputs, their steps, their results, and replays of recorded runs.
//!
//! | modules | contents |
//! |---|---|
//! | `call`, `caller` | a call and its results, as plain data |
//! | `invoke` | the steps of calls that leave a record, the only modules that use the store |
//! | `trial`, `tool_mocks` | runs without a record |
//! | `native` | tools that the server itself provides |
//! | `versions`, `output_schemas`, `intervention_rules` | what is read once for each version |
//! | `input_bytes`, `input_documents`, `run_documents`, `tape_documents` | inputs that wait, and the documents that a tool receives |
//! | `schema`, `refused_arguments`, `output` | checks of inputs and outputs |
//! | `redact` | removes secrets from the texts of runs |

pub(crate) mod call;
pub(crate) mod caller;
pub(crate) mod input_bytes;
pub(crate) mod input_documents;
pub(crate) mod intervention_rules;
pub(crate) mod invoke;
pub(crate) mod native;
pub(crate) mod output;
pub(crate) mod output_schemas;
pub(crate) mod redact;
pub(crate) mod refused_arguments;
pub(crate) mod run_documents;
pub(crate) mod schema;
pub(crate) mod tape_documents;
pub(crate) mod tool_mocks;
pub(crate) mod trial;
pub(crate) mod versions;
