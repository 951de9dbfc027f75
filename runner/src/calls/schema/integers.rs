//! Integers of schemas: the bounds of their types, and the spelling of their values. A schema calls `1.0` and `1e2` integers, and so do
//! tools in JavaScript; Python and Rust read them as floats. So inputs are spelled as integers before a tool reads them.

mod bounds;
mod spelling;

pub use bounds::bound_integers;
pub use spelling::{Integers, has_fractions};
