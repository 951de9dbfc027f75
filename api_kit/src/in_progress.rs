//! Bounds of the requests in progress of a user, an organisation and an address.
//!
//! A request holds a permit from its authorisation to the last byte of its response, whatever it waits for: a run, a build,
//! the answer of a person, a slow body, or the next event of a stream. So no list of operations that last is kept, and
//! neither a user nor an organisation can hold all connections. Until a request is authorised, it counts for the address of
//! its client, as requests without credentials do to their end.
//!
//! Streams that listen to changes last without an end and cost little, so that they have bounds of their own, below those
//! of requests. They are evicted when connections run short ([`crate::server`]).
//!
//! [`Work`] has the kinds of work of all operations, with what bounds each of them.

mod admission;
mod bounds;
mod work;

pub use admission::{RequestAdmission, RequestPermit, StreamAdmission};
pub use bounds::RequestBounds;
pub use work::{Work, WorkBounds};
