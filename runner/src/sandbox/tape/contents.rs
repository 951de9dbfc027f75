//! The tape of one run: its effects in order, its clock readings, its seed and its end.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::body::Body;
use super::effect::{Counts, Effect};
use super::exchange::{Bodies, TapedAnswer, TapedRequest, TapedResponse};
use super::readings::Readings;
use crate::sandbox::outcome::{self, Outcome};

/// One run, as its host saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tape {
    /// Seed of the run's random number generator.
    pub seed: [u8; 32],
    pub wall: Readings,
    pub monotonic: Readings,
    pub entries: Vec<TapeEntry>,
    /// Counts after the last entry.
    pub rest: Counts,
    pub end: End,
    /// Larger response bodies, which entries name by digest.
    pub bodies: Bodies,
}

/// An effect, and the counts between it and the effect before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapeEntry {
    pub before: Counts,
    pub effect: Effect,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// The run ended by itself or at a limit that does not depend on time. Both texts are hashed with SHA-256, within
    /// their bounds.
    Whole { outcome: [u8; 32], printed: [u8; 32] },
    /// The run exceeded a time limit. The place where a time limit stops a run depends on the machine.
    Clock,
    /// A replay could not continue.
    Stopped,
}

impl End {
    pub(crate) fn whole(outcome: &Outcome, printed: &[u8]) -> Self {
        let outcome = compute_outcome_digest(&outcome::bound(outcome.clone()));
        Self::Whole { outcome, printed: Sha256::digest(printed).into() }
    }
}

impl Tape {
    /// Digests of response bodies that are stored apart from the tape.
    pub(crate) fn list_wanted_bodies(&self) -> impl Iterator<Item = [u8; 32]> + '_ {
        self.entries.iter().filter_map(|entry| match &entry.effect {
            Effect::ResponseTaken { answer, .. } => match answer.as_ref() {
                Ok(TapedResponse { body: Body::Digest(digest), .. }) => Some(digest.0),
                _ => None,
            },
            _ => None,
        })
    }

    /// Requests in their order, each with the answer that the run took, if any.
    pub(super) fn collect_exchanges(&self) -> Vec<(&TapedRequest, Option<&TapedAnswer>)> {
        let mut exchanges = Vec::new();
        for entry in &self.entries {
            match &entry.effect {
                Effect::RequestStarted { request } => exchanges.push((request.as_ref(), None)),
                Effect::ResponseTaken { exchange, answer } => {
                    let started = usize::try_from(*exchange).ok().and_then(|index| exchanges.get_mut(index));
                    if let Some(started) = started {
                        started.1 = Some(answer.as_ref());
                    }
                }
                _ => {}
            }
        }
        exchanges
    }
}

/// Hashes every part with its length before it, so that two different outcomes never give the same bytes.
fn compute_outcome_digest(outcome: &Outcome) -> [u8; 32] {
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
    use crate::interaction::{InputErrorCode, InputRefused, Reply};

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

    fn reply() -> impl Strategy<Value = Reply> {
        let refused = |message| Reply::Refused(InputRefused::new(InputErrorCode::Unavailable, message));
        prop_oneof![
            Just(Reply::Open),
            ".{0,9}".prop_map(refused),
            proptest::collection::vec(".{0,9}".prop_map(String::from), 0..3).prop_map(Reply::Answered),
        ]
    }

    fn effect() -> impl Strategy<Value = Effect> {
        prop_oneof![
            (any::<u32>(), proptest::collection::vec(any::<u32>(), 0..5))
                .prop_map(|(of, ready)| Effect::Polled { of, ready: ready.into() }),
            Just(Effect::Blocked),
            any::<bool>().prop_map(|is_ready| Effect::ReadinessChecked { is_ready }),
            (body(), any::<bool>()).prop_map(|(event, is_accepted)| Effect::StatusSent { event, is_accepted }),
            (".{0,9}", ".{0,9}", body()).prop_map(|(method, url, body)| {
                let headers = vec![(method.clone(), url.clone())];
                Effect::RequestStarted { request: Box::new(TapedRequest { method, url, headers, body }) }
            }),
            (proptest::collection::vec(any::<u32>(), 0..5), any::<bool>()).prop_map(|(all, is_answered)| {
                let answered = if is_answered { all.clone() } else { Vec::new() };
                Effect::ResponsesAwaited { exchanges: all.into(), answered: answered.into() }
            }),
            (any::<u32>(), any::<u16>(), body()).prop_map(|(exchange, status, body)| {
                let headers = vec![("a".to_owned(), "b".to_owned())];
                Effect::ResponseTaken { exchange, answer: Box::new(Ok(TapedResponse { status, headers, body })) }
            }),
            (any::<u32>(), ".{0,9}").prop_map(|(exchange, message)| {
                let error = crate::HttpError::new(crate::HttpErrorCode::Timeout, message);
                Effect::ResponseTaken { exchange, answer: Box::new(Err(error)) }
            }),
            any::<u32>().prop_map(|exchange| Effect::RequestCancelled { exchange }),
            (body(), any::<bool>()).prop_map(|(block, is_accepted)| Effect::ContentAdded { block, is_accepted }),
            (body(), reply())
                .prop_map(|(questions, reply)| Effect::InputRequested { questions, reply: Box::new(reply) }),
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
        let entry = (counts(), effect()).prop_map(|(before, effect)| TapeEntry { before, effect });
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
    }

    #[test]
    fn outcomes_with_other_borders_have_other_digests() {
        let failed = |kind: &str, message: &str| compute_outcome_digest(&outcome::failed(kind, message));
        assert_ne!(failed("ab", "c"), failed("a", "bc"));
        assert_ne!(failed("a", "b"), compute_outcome_digest(&Outcome::Succeeded { output: "ab".into() }));
    }
}
