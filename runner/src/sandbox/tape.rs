//! The tape of a run: every effect in order, with its answer, so that the run can be repeated offline.
//!
//! Clock readings are kept apart as [`Readings`]: a clock has at most a thousand values a second, and a run may read it
//! any number of times. Randomness is one seed. Every [`Entry`] counts the readings and random bytes before it.
//!
//! | file | contents |
//! |---|---|
//! | `contents` | the tape itself |
//! | `mode` | whether a run is recorded or replayed |
//! | `recorder` | makes a tape, in a run and in its replay |
//! | `strict` | replays the same code: effects must come in the order of the tape |
//! | `lenient` | replays other code: the tape answers what it can |
//! | `difference` | compares two tapes |
//! | `effect` | actions of a run and their answers |
//! | `exchange` | outbound HTTP requests and responses |
//! | `readings` | the values of a clock |

mod body;
pub(crate) mod contents;
mod difference;
mod effect;
mod exchange;
mod lenient;
mod mode;
mod readings;
mod recorder;
mod strict;

pub use body::Body;
pub use contents::{End, Tape, TapeEntry};
pub use difference::{Difference, DifferenceKind};
pub(crate) use difference::{find_changes, find_first_difference};
pub use effect::{Counts, Effect};
pub use exchange::Bodies;
pub(crate) use lenient::LenientReplay;
pub use mode::{TapeMode, TapeResult};
pub use readings::Readings;
pub(crate) use recorder::Recorder;
pub(crate) use strict::{ReplayStopped, StrictReplay};
