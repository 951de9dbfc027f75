//! Changes of what a client sees.

mod changes;
mod looks;
mod resource_watch;

pub use changes::Watched;
pub use looks::Looks;
pub use resource_watch::{VisibleResources, WatchedResources, take_within_bounds};
