//! The sandbox with hostile jobs, and the inspection of hostile components.

#[path = "builds/attempts.rs"]
mod attempts;
#[path = "builds/components.rs"]
mod components;
#[path = "builds/endings.rs"]
mod endings;
#[path = "builds/hostile.rs"]
mod hostile;
#[path = "builds/jobs.rs"]
mod jobs;
#[path = "builds/machine.rs"]
mod machine;
#[path = "../../tests/harness/need.rs"]
mod need;
