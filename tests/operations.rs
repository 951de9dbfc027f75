//! What operators see and set.

mod crowds;
