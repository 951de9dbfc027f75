//! What operators see and set.

mod collector;
mod crowds;
mod logs;
mod metrics;
mod traces;
