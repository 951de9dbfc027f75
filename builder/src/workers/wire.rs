//! What a server and a worker say to each other once they know that they are the same program.

use std::collections::BTreeMap;
use std::time::Duration;

use runner::COMPONENT_BYTES_MAX;
use serde::{Deserialize, Serialize};

use super::names::{HASH_ALGORITHMS, PACKAGE_KINDS, STEPS, known};
use crate::attestation::{Hash, Package};
use crate::error::{Error, Place};
use crate::progress::Told;
use crate::source::PROJECT_BYTES_MAX;
use crate::source::quarantine::{ENTRIES_MAX, PATH_BYTES_MAX};
use crate::toolchain;

/// Changes with every type of this file, and with the greeting.
pub const PROTOCOL: u32 = 2;

/// A project with the names of its files, all as long as they may be.
#[expect(clippy::cast_possible_truncation, reason = "some hundred megabytes")]
pub const JOB_BYTES_MAX: usize = (PROJECT_BYTES_MAX + ENTRIES_MAX * (PATH_BYTES_MAX + 16)) as usize;
/// The largest message has a schema of 256 KiB and some hundred packages.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// What was made, behind its message: no component is larger.
pub const BLOB_BYTES_MAX: usize = COMPONENT_BYTES_MAX;
/// A snapshot's component, before it. That of a larger one is not made.
pub const SNAPSHOT_BYTES_MAX: usize = COMPONENT_BYTES_MAX;
/// Of one text. The longest is a refusal with what a compiler said.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Something that no worker says.
#[derive(Debug, PartialEq, Eq)]
pub struct Breach(pub String);

/// From a worker that has a job, or waits for one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromWorker {
    Told(Report),
    /// The job is done, and the bytes follow, in a frame for each that there is of [`Bytes`].
    Made(Made),
    /// The job is done, and nothing came of it.
    Failed(Failure),
    /// It takes no further job, nor one that is on its way.
    Leaves,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    Started { step: String },
    Ended { step: String, duration_ms: u64, failure: Option<String> },
    Line { line: String },
}

/// All of a toolchain's work but the bytes that run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    pub kind: Kind,
    pub packages: Vec<Part>,
    pub input_schema: Option<String>,
}

/// What the bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Code for the language's image, which the worker has as the server has it, or for a snapshot of this image.
    Bundle {
        image: [u8; 32],
        has_snapshot: bool,
    },
    Component,
}

/// What follows the message, in this order.
#[derive(Debug, PartialEq, Eq)]
pub struct Bytes {
    /// The component of a snapshot.
    pub snapshot: Option<Vec<u8>>,
    /// A bundle, or a component of its own.
    pub artefact: Vec<u8>,
}

/// A package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub kind: String,
    pub name: String,
    pub version: String,
    /// Algorithm and digits.
    pub hash: Option<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// A stage refused the project.
    Project { stage: String, check: String, message: String, file: Option<String>, line: Option<u32> },
    /// Its component does not compile.
    Component { reason: String },
    /// The author can do nothing about it.
    Fault { message: String },
}

/// The files of a project as a job's frame.
///
/// # Errors
/// When they are more than any project has.
pub fn job(files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>, Error> {
    let job = postcard::to_allocvec(files).map_err(Error::internal)?;
    if job.len() > JOB_BYTES_MAX { Err(Error::internal("a project larger than any")) } else { Ok(job) }
}

impl FromWorker {
    /// # Errors
    /// When the bytes are no message.
    pub fn read(frame: &[u8]) -> Result<Self, Breach> {
        let (message, rest) =
            postcard::take_from_bytes(frame).map_err(|error| Breach(format!("no message: {error}")))?;
        if rest.is_empty() { Ok(message) } else { Err(Breach("bytes behind a message".into())) }
    }
}

impl From<Told> for Report {
    fn from(told: Told) -> Self {
        match told {
            Told::Started { step } => Self::Started { step: step.into() },
            Told::Ended { step, duration, failure } => Self::Ended {
                step: step.into(),
                duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
                failure: failure.map(cut),
            },
            Told::Line { line } => Self::Line { line: cut(line) },
        }
    }
}

impl TryFrom<Report> for Told {
    type Error = Breach;

    fn try_from(report: Report) -> Result<Self, Breach> {
        Ok(match report {
            Report::Started { step } => Self::Started { step: known(STEPS, &step)? },
            Report::Ended { step, duration_ms, failure } => Self::Ended {
                step: known(STEPS, &step)?,
                duration: Duration::from_millis(duration_ms),
                failure: failure.map(cut),
            },
            Report::Line { line } => Self::Line { line: cut(line) },
        })
    }
}

impl Made {
    pub fn of(made: &toolchain::Made) -> Self {
        let kind = match made.artefact.language_image() {
            Some((_, image)) => {
                Kind::Bundle { image: *image.as_bytes(), has_snapshot: made.artefact.snapshot().is_some() }
            }
            None => Kind::Component,
        };
        let packages = made.packages.iter().cloned().map(Part::from).collect();
        Self { kind, packages, input_schema: made.input_schema.clone() }
    }
}

impl From<Package> for Part {
    fn from(Package { kind, name, version, hash }: Package) -> Self {
        Self { kind: kind.into(), name, version, hash: hash.map(|found| (found.algorithm.into(), found.hex)) }
    }
}

impl TryFrom<Part> for Package {
    type Error = Breach;

    fn try_from(Part { kind, name, version, hash }: Part) -> Result<Self, Breach> {
        let hash = hash.map(|(algorithm, hex)| match hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            true => Ok(Hash { algorithm: known(HASH_ALGORITHMS, &algorithm)?, hex }),
            false => Err(Breach("a hash that is none".into())),
        });
        Ok(Self { kind: known(PACKAGE_KINDS, &kind)?, name: cut(name), version: cut(version), hash: hash.transpose()? })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Failed { stage, check, message, place: Place { file, line } } => {
                let (stage, file) = (stage.into(), file.map(cut));
                Self::Project { stage, check: cut(check), message: cut(message), file, line }
            }
            Error::Runner(runner::Error::Rejected { reason }) => Self::Component { reason: cut(reason) },
            error => Self::Fault { message: cut(error.to_string()) },
        }
    }
}

impl TryFrom<Failure> for Error {
    type Error = Breach;

    fn try_from(failure: Failure) -> Result<Self, Breach> {
        Ok(match failure {
            Failure::Project { stage, check, message, file, line } => Self::Failed {
                stage: known(STEPS, &stage)?,
                check: cut(check),
                message: cut(message),
                place: Place { file: file.map(cut), line },
            },
            Failure::Component { reason } => Self::Runner(runner::Error::Rejected { reason: cut(reason) }),
            Failure::Fault { message } => Self::internal(format!("in a build worker: {}", cut(message))),
        })
    }
}

/// The beginning of a text that is too long.
fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reports() -> impl Strategy<Value = Report> {
        let step = || prop::sample::select(STEPS).prop_map(str::to_owned);
        prop_oneof![
            step().prop_map(|step| Report::Started { step }),
            (step(), any::<u64>(), prop::option::of(".{0,40}"))
                .prop_map(|(step, duration_ms, failure)| Report::Ended { step, duration_ms, failure }),
            ".{0,40}".prop_map(|line| Report::Line { line }),
        ]
    }

    fn parts() -> impl Strategy<Value = Part> {
        let hash = (prop::sample::select(HASH_ALGORITHMS), "[0-9a-f]{64}");
        let hash = prop::option::of(hash.prop_map(|(algorithm, hex)| (algorithm.to_owned(), hex)));
        (prop::sample::select(PACKAGE_KINDS), "[a-z]{1,9}", "[0-9.]{1,9}", hash)
            .prop_map(|(kind, name, version, hash)| Part { kind: kind.into(), name, version, hash })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_report_is_the_same_on_the_other_side(report in reports()) {
            let sent = postcard::to_allocvec(&FromWorker::Told(report.clone())).unwrap();
            prop_assert_eq!(FromWorker::read(&sent), Ok(FromWorker::Told(report.clone())));
            prop_assert_eq!(Report::from(Told::try_from(report.clone()).unwrap()), report);
        }

        #[test]
        fn a_package_is_the_same_on_the_other_side(part in parts()) {
            prop_assert_eq!(Part::from(Package::try_from(part.clone()).unwrap()), part);
        }

        #[test]
        fn random_bytes_are_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            drop(FromWorker::read(&bytes));
        }
    }

    #[test]
    fn a_refusal_is_the_same_on_the_other_side() {
        let refusals = [
            Error::failed("compile", "syntax", "no", Place::line("tool.py", 3)),
            Error::failed("toolchain", "sandbox", "no", Place::default()),
            Error::Runner(runner::Error::Rejected { reason: "too large".into() }),
        ];
        for error in refusals {
            let (text, code, stage) = (error.to_string(), error.code(), error.stage());
            let there = Error::try_from(Failure::from(error)).unwrap();
            assert_eq!((there.to_string(), there.code(), there.stage()), (text, code, stage));
        }
        // What is none of the author's business stays with the server.
        assert_eq!(Error::try_from(Failure::from(Error::internal("disk"))).unwrap().code(), "internal");
    }

    #[test]
    fn a_text_without_end_is_cut() {
        let Report::Line { line } = Report::from(Told::Line { line: "ä".repeat(1 << 20) }) else { panic!("a line") };
        assert!(line.len() <= TEXT_BYTES_MAX && line.len() > TEXT_BYTES_MAX - 2);
    }
}
