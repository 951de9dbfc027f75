//! The steps of the walk, one function each. A step checks what it shows: an answer that is not the expected one is its error.

pub mod history;
pub mod organization;
pub mod runs;
pub mod source;
pub mod versions;
