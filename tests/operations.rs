//! Metrics, logs, traces and overload, as operators see them.

mod collector;
mod crowds;
mod lockout;
mod logs;
mod metrics;
mod proxies;
mod start;
mod streams;
mod traces;
