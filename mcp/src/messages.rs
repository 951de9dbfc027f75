//! Messages of clients, and the methods that they name.

mod message;
mod methods;
mod parameters;

pub use message::{MessageRefused, check_message, check_parameters, find_id, find_method};
pub use methods::{METHODS, McpMethod, check_bounds};
