//! Messages of clients, and the methods that they name.

mod message;
mod methods;
mod parameters;

pub use message::{MessageRefused, check_message, check_parameters, id_of, method_of};
pub use methods::{METHODS, McpMethod, bounded};
