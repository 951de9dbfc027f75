//! The tape of a run: every effect in order, with its answer, so that the run can be repeated without the world.
//!
//! Looks at a clock are kept apart as [`Readings`], since there are at most a thousand values a second of them and any
//! number of looks; so is randomness, which is one seed. Every [`Entry`] says how many of them came before it.
//!
//! | file | has |
//! |---|---|
//! | `recorder` | the making of a tape, in a run and in its replay |
//! | `strict` | the same code again: everything must come in the order of the tape |
//! | `free` | other code: the tape answers what it can |
//! | `difference` | two tapes of the same code, or of two |
//! | `exchange` | outbound HTTP |
//! | `readings` | the values of a clock |

mod difference;
mod exchange;
mod free;
mod readings;
mod recorder;
mod strict;

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Outcome;

pub use difference::{Difference, What};
pub(crate) use difference::{changes, first_difference};
pub use exchange::{Bodies, TapedAnswer, TapedRequest, TapedResponse};
pub(crate) use free::Free;
pub use readings::Readings;
pub(crate) use recorder::Recorder;
pub(crate) use strict::{Stopped, Strict};

/// What a run keeps of what happens in it, and where its answers come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Taping {
    /// The world answers, and nothing is kept.
    #[default]
    Off,
    /// The same, but that the time of day begins where somebody set it, in milliseconds since 1970.
    Set { clock_ms: u64 },
    /// The world answers, and a tape is made.
    On,
    /// A tape answers, to the same code: the first difference ends the run.
    Again(Box<Tape>),
    /// A tape answers, to other code, as far as it can.
    Otherwise {
        tape: Box<Tape>,
        /// Milliseconds since 1970, for a tape without a look at the time of day.
        started_at: u64,
    },
}

/// What became of the tape of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Taped {
    /// None was wanted.
    #[default]
    Nothing,
    /// It grew over its bound.
    Cut,
    Whole(Box<Tape>),
}

/// One run, as its host saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tape {
    /// Of the run's generator of randomness.
    pub seed: [u8; 32],
    pub wall: Readings,
    pub monotonic: Readings,
    pub entries: Vec<Entry>,
    /// What came after the last entry.
    pub rest: Counts,
    pub end: End,
    /// The larger ones, which its answers name.
    pub bodies: Bodies,
}

/// An effect, and what came between it and the one before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub before: Counts,
    pub effect: Effect,
}

/// Effects that are kept as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub wall_reads: u64,
    pub monotonic_reads: u64,
    pub random_bytes: u64,
    pub printed_bytes: u64,
}

/// What a run did, with the answer that it got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// Waited for one of several things.
    Polled { of: u32, ready: Box<[u32]> },
    /// Waited for one thing.
    Blocked,
    /// Asked whether something had happened.
    Asked { is_ready: bool },
    /// Sent a status event.
    Told { said: Body, is_taken: bool },
    /// Began a request; they are numbered from zero.
    Started { request: Box<TapedRequest> },
    /// Waited for answers.
    Awaited { exchanges: Box<[u32]>, answered: Box<[u32]> },
    /// Took an answer.
    Finished { exchange: u32, answer: Box<TapedAnswer> },
    /// Gave a request up.
    Cancelled { exchange: u32 },
}

/// Bytes of a run: as they are, or by their digest where nothing needs them again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Body {
    Whole(Box<[u8]>),
    Digest(Box<([u8; 32], u64)>),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// By itself or at a bound that does not depend on time, with the SHA-256 of its outcome and of what it printed.
    Whole { outcome: [u8; 32], printed: [u8; 32] },
    /// Its time was over; where that met it depends on the machine.
    Clock,
    /// A replay that could not go on.
    Stopped,
}

impl End {
    pub(crate) fn whole(outcome: &Outcome, printed: &[u8]) -> Self {
        Self::Whole { outcome: outcome_digest(outcome), printed: Sha256::digest(printed).into() }
    }
}

impl Counts {
    pub(crate) const fn since(self, earlier: Self) -> Self {
        Self {
            wall_reads: self.wall_reads.saturating_sub(earlier.wall_reads),
            monotonic_reads: self.monotonic_reads.saturating_sub(earlier.monotonic_reads),
            random_bytes: self.random_bytes.saturating_sub(earlier.random_bytes),
            printed_bytes: self.printed_bytes.saturating_sub(earlier.printed_bytes),
        }
    }
}

impl Body {
    pub(crate) fn whole(bytes: &[u8]) -> Self {
        Self::Whole(bytes.into())
    }

    pub(crate) fn digest(bytes: &[u8]) -> Self {
        Self::Digest(Box::new((Sha256::digest(bytes).into(), bytes.len() as u64)))
    }

    const fn length(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Digest(body) => body.1,
        }
    }

    /// The bytes that the tape holds for it.
    const fn heap_bytes(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Digest(_) => size_of::<([u8; 32], u64)>(),
        }
    }
}

impl fmt::Display for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => formatter.write_str(&String::from_utf8_lossy(bytes)),
            Self::Digest(body) => write!(formatter, "{} bytes with SHA-256 {}", body.1, hex::encode(body.0)),
        }
    }
}

impl Effect {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Polled { ready, .. } => size_of_val::<[u32]>(ready),
            Self::Started { request } => request.heap_bytes(),
            Self::Awaited { exchanges, answered } => size_of_val::<[u32]>(exchanges) + size_of_val::<[u32]>(answered),
            Self::Finished { answer, .. } => exchange::answer_bytes(answer),
            Self::Blocked | Self::Asked { .. } | Self::Cancelled { .. } => 0,
            Self::Told { said, .. } => said.heap_bytes(),
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Polled { of, ready } => write!(formatter, "waited for {of} things, of which came {ready:?}"),
            Self::Blocked => formatter.write_str("waited for one thing"),
            Self::Asked { is_ready: true } => formatter.write_str("asked whether something had happened: it had"),
            Self::Asked { is_ready: false } => formatter.write_str("asked whether something had happened: not yet"),
            Self::Told { said, is_taken: true } => write!(formatter, "sent the status event {said}"),
            Self::Told { said, is_taken: false } => write!(formatter, "was refused the status event {said}"),
            Self::Started { request } => write!(formatter, "requested {request}"),
            Self::Awaited { exchanges, answered } => {
                write!(formatter, "waited for the answers of {exchanges:?}, of which came {answered:?}")
            }
            Self::Finished { exchange, answer } => match answer.as_ref() {
                Ok(response) => {
                    let (status, length) = (response.status, response.body.length());
                    write!(formatter, "was answered {exchange} with {status} and {length} bytes")
                }
                Err(error) => write!(formatter, "was refused {exchange}: {}: {}", error.code.as_str(), error.message),
            },
            Self::Cancelled { exchange } => write!(formatter, "gave up {exchange}"),
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wall_reads, monotonic_reads, random_bytes, printed_bytes } = self;
        write!(
            formatter,
            "looked {wall_reads} times at the time of day and {monotonic_reads} times at the time since the start, took \
             {random_bytes} random bytes, printed {printed_bytes} bytes"
        )
    }
}

/// Every part with its length before it, so that no two outcomes give the same bytes.
fn outcome_digest(outcome: &Outcome) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    };
    match outcome {
        Outcome::Succeeded { output } => {
            part("succeeded");
            part(output);
        }
        Outcome::Failed { exception_type, exception_message, exception_stack_trace } => {
            part("failed");
            part(exception_type);
            part(exception_message);
            exception_stack_trace.iter().for_each(|line| part(line));
        }
    }
    hash.finalize().into()
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts() -> impl Strategy<Value = Counts> {
        (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()).prop_map(
            |(wall_reads, monotonic_reads, random_bytes, printed_bytes)| Counts {
                wall_reads,
                monotonic_reads,
                random_bytes,
                printed_bytes,
            },
        )
    }

    fn body() -> impl Strategy<Value = Body> {
        prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..50).prop_map(|bytes| Body::whole(&bytes)),
            proptest::collection::vec(any::<u8>(), 0..50).prop_map(|bytes| Body::digest(&bytes)),
        ]
    }

    fn effect() -> impl Strategy<Value = Effect> {
        prop_oneof![
            (any::<u32>(), proptest::collection::vec(any::<u32>(), 0..5))
                .prop_map(|(of, ready)| Effect::Polled { of, ready: ready.into() }),
            Just(Effect::Blocked),
            any::<bool>().prop_map(|is_ready| Effect::Asked { is_ready }),
            (body(), any::<bool>()).prop_map(|(said, is_taken)| Effect::Told { said, is_taken }),
            (".{0,9}", ".{0,9}", body()).prop_map(|(method, url, body)| {
                let headers = vec![(method.clone(), url.clone())];
                Effect::Started { request: Box::new(TapedRequest { method, url, headers, body }) }
            }),
            (proptest::collection::vec(any::<u32>(), 0..5), any::<bool>()).prop_map(|(all, is_answered)| {
                let answered = if is_answered { all.clone() } else { Vec::new() };
                Effect::Awaited { exchanges: all.into(), answered: answered.into() }
            }),
            (any::<u32>(), any::<u16>(), body()).prop_map(|(exchange, status, body)| {
                let headers = vec![("a".to_owned(), "b".to_owned())];
                Effect::Finished { exchange, answer: Box::new(Ok(TapedResponse { status, headers, body })) }
            }),
            (any::<u32>(), ".{0,9}").prop_map(|(exchange, message)| {
                let error = crate::HttpError::new(crate::HttpErrorCode::Timeout, message);
                Effect::Finished { exchange, answer: Box::new(Err(error)) }
            }),
            any::<u32>().prop_map(|exchange| Effect::Cancelled { exchange }),
        ]
    }

    fn end() -> impl Strategy<Value = End> {
        prop_oneof![
            (any::<[u8; 32]>(), any::<[u8; 32]>()).prop_map(|(outcome, printed)| End::Whole { outcome, printed }),
            Just(End::Clock),
            Just(End::Stopped),
        ]
    }

    fn readings() -> impl Strategy<Value = Readings> {
        proptest::collection::vec(any::<u64>(), 0..20).prop_map(|values| {
            let mut readings = Readings::default();
            values.into_iter().for_each(|value| readings.add(value));
            readings
        })
    }

    pub fn tape() -> impl Strategy<Value = Tape> {
        let entry = (counts(), effect()).prop_map(|(before, effect)| Entry { before, effect });
        let entries = proptest::collection::vec(entry, 0..20);
        (any::<[u8; 32]>(), readings(), readings(), entries, counts(), end()).prop_map(
            |(seed, wall, monotonic, entries, rest, end)| {
                let mut bodies = Bodies::default();
                bodies.put(seed, vec![seed[0]; 9]);
                Tape { seed, wall, monotonic, entries, rest, end, bodies }
            },
        )
    }

    proptest! {
        #[test]
        fn a_tape_is_read_as_it_was_written(tape in tape()) {
            let bytes = postcard::to_stdvec(&tape).unwrap();
            prop_assert_eq!(postcard::from_bytes::<Tape>(&bytes).unwrap(), tape);
        }

        #[test]
        fn any_bytes_are_a_tape_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
            let _ = postcard::from_bytes::<Tape>(&bytes);
        }

        #[test]
        fn a_tape_does_not_differ_from_itself(tape in tape()) {
            prop_assert_eq!(first_difference(&tape, &tape), None);
        }
    }

    #[test]
    fn outcomes_with_other_borders_have_other_digests() {
        let failed = |kind: &str, message: &str| outcome_digest(&Outcome::failed(kind, message));
        assert_ne!(failed("ab", "c"), failed("a", "bc"));
        assert_ne!(failed("a", "b"), outcome_digest(&Outcome::Succeeded { output: "ab".into() }));
    }
}
