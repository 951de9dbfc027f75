//! Envelope encryption: a master key in a file seals one data key per organisation, which seals the organisation's variables.
//!
//! A sealed value is bound to its organisation, tool, name and key. It cannot be opened in another row.

mod answers;
mod data_key;
mod key_ring;
mod signing;
mod tapes;

pub use answers::AnswerTo;
pub(crate) use data_key::build_associated_data;
pub use data_key::{DataKey, SealedFor, VariableOwner};
pub use key_ring::KeyRing;
pub(crate) use key_ring::compute_keyed_hash;
pub use signing::SigningKey;
