//! Builds in which an author's native code runs, and what comes out of them: the hostile ones above all.

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
