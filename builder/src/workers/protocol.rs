//! The messages between server and worker after the handshake. Both run the same program.

use std::collections::BTreeMap;
use std::time::Duration;

use repository::{ENTRIES_MAX, PATH_BYTES_MAX, PROJECT_BYTES_MAX};
use runner::COMPONENT_BYTES_MAX;
use serde::{Deserialize, Serialize};

use super::known_names::{HASH_ALGORITHMS, PACKAGE_KINDS, STEPS, find_known};
use super::violation::ProtocolViolation;
use crate::attestation::{Hash, Package};
use crate::error::{Error, Location};
use crate::progress::BuildReport;
use crate::text::cut;
use crate::toolchain::project::{self, Caches};

/// The version of the protocol, which changes with every type of this file and with the handshake.
pub const PROTOCOL: u32 = 1;

/// Bytes of a job: a project of the largest size, with the most and longest file names.
#[expect(clippy::cast_possible_truncation, reason = "some hundred megabytes")]
pub const JOB_BYTES_MAX: usize = (PROJECT_BYTES_MAX + ENTRIES_MAX * (PATH_BYTES_MAX + 16)) as usize;
/// Bytes of a message. The largest has a schema of 256 KiB and some hundred packages.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// Bytes of the artifact, which follows its message.
pub const BLOB_BYTES_MAX: usize = COMPONENT_BYTES_MAX;
/// Bytes of a snapshot's component, which precedes the artifact. Larger snapshots are not made.
pub const SNAPSHOT_BYTES_MAX: usize = COMPONENT_BYTES_MAX;

/// A message from a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromWorker {
    Report(ReportMessage),
    /// The job has succeeded. One frame follows for each part of [`Bytes`] that exists.
    Output(OutputMessage),
    /// The job has failed.
    Failed(Failure),
    /// The worker takes no further job, including one that is already sent.
    Leaves,
}

/// The wire format of [`BuildReport`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportMessage {
    Started { step: String },
    Ended { step: String, duration_ms: u64, failure: Option<String> },
    Line { line: String },
}

/// The wire format of [`project::ToolchainOutput`], without the bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputMessage {
    pub kind: Kind,
    pub packages: Vec<PackageMessage>,
    pub input_schema: Option<String>,
}

/// The kind of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A bundle for the language's image, which server and worker both have, or for a snapshot of it.
    Bundle {
        image: [u8; 32],
        has_snapshot: bool,
    },
    Component,
}

/// The frames after the message, in this order.
#[derive(Debug, PartialEq, Eq)]
pub struct Bytes {
    /// The component of a snapshot.
    pub snapshot: Option<Vec<u8>>,
    /// A bundle or a complete component.
    pub artifact: Vec<u8>,
}

/// The wire format of [`Package`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageMessage {
    pub kind: String,
    pub name: String,
    pub version: String,
    /// Algorithm and hexadecimal digits.
    pub hash: Option<(String, String)>,
}

/// The wire format of [`Error`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// A stage refused the project.
    Project { stage: String, check: String, message: String, file: Option<String>, line: Option<u32> },
    /// The component does not compile.
    Component { reason: String },
    /// A fault of the service.
    Fault { message: String },
}

/// A project to build.
#[derive(Debug, Serialize, Deserialize)]
pub struct Job {
    pub files: BTreeMap<String, Vec<u8>>,
    pub caches: Caches,
}

impl Job {
    /// The frame of the job.
    ///
    /// # Errors
    /// When the job is larger than any project.
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let job = postcard::to_allocvec(self).map_err(Error::internal)?;
        if job.len() > JOB_BYTES_MAX {
            Err(Error::internal("the project is larger than any accepted project"))
        } else {
            Ok(job)
        }
    }
}

impl FromWorker {
    /// # Errors
    /// When the bytes are not one message.
    pub fn read(frame: &[u8]) -> Result<Self, ProtocolViolation> {
        let (message, rest) = postcard::take_from_bytes(frame)
            .map_err(|error| ProtocolViolation(format!("it sent a malformed message: {error}")))?;
        if rest.is_empty() { Ok(message) } else { Err(ProtocolViolation("it sent bytes after a message".into())) }
    }
}

impl From<BuildReport> for ReportMessage {
    fn from(report: BuildReport) -> Self {
        match report {
            BuildReport::Started { step } => Self::Started { step: step.into() },
            BuildReport::Ended { step, duration, failure } => Self::Ended {
                step: step.into(),
                duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
                failure: failure.map(cut),
            },
            BuildReport::Line { line } => Self::Line { line: cut(line) },
        }
    }
}

impl TryFrom<ReportMessage> for BuildReport {
    type Error = ProtocolViolation;

    fn try_from(report: ReportMessage) -> Result<Self, ProtocolViolation> {
        Ok(match report {
            ReportMessage::Started { step } => Self::Started { step: find_known(STEPS, &step)? },
            ReportMessage::Ended { step, duration_ms, failure } => Self::Ended {
                step: find_known(STEPS, &step)?,
                duration: Duration::from_millis(duration_ms),
                failure: failure.map(cut),
            },
            ReportMessage::Line { line } => Self::Line { line: cut(line) },
        })
    }
}

impl OutputMessage {
    pub fn of(made: &project::ToolchainOutput) -> Self {
        let kind = match made.artifact.language_image() {
            Some((_, image)) => {
                Kind::Bundle { image: *image.as_bytes(), has_snapshot: made.artifact.snapshot().is_some() }
            }
            None => Kind::Component,
        };
        let packages = made.packages.iter().cloned().map(PackageMessage::from).collect();
        Self { kind, packages, input_schema: made.input_schema.clone() }
    }
}

impl From<Package> for PackageMessage {
    fn from(Package { kind, name, version, hash }: Package) -> Self {
        Self { kind: kind.into(), name, version, hash: hash.map(|found| (found.algorithm.into(), found.hex)) }
    }
}

impl TryFrom<PackageMessage> for Package {
    type Error = ProtocolViolation;

    fn try_from(PackageMessage { kind, name, version, hash }: PackageMessage) -> Result<Self, ProtocolViolation> {
        let hash = hash.map(|(algorithm, hex)| match hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            true => Ok(Hash { algorithm: find_known(HASH_ALGORITHMS, &algorithm)?, hex }),
            false => Err(ProtocolViolation("it sent a hash that is not hexadecimal".into())),
        });
        Ok(Self {
            kind: find_known(PACKAGE_KINDS, &kind)?,
            name: cut(name),
            version: cut(version),
            hash: hash.transpose()?,
        })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Failed { stage, check, message, location: Location { file, line } } => {
                let (stage, file) = (stage.into(), file.map(cut));
                Self::Project { stage, check: cut(check), message: cut(message), file, line }
            }
            Error::Runner(runner::Error::Rejected { reason }) => Self::Component { reason: cut(reason) },
            error => Self::Fault { message: cut(error.to_string()) },
        }
    }
}

impl TryFrom<Failure> for Error {
    type Error = ProtocolViolation;

    fn try_from(failure: Failure) -> Result<Self, ProtocolViolation> {
        Ok(match failure {
            Failure::Project { stage, check, message, file, line } => Self::Failed {
                stage: find_known(STEPS, &stage)?,
                check: cut(check),
                message: cut(message),
                location: Location { file: file.map(cut), line },
            },
            Failure::Component { reason } => Self::Runner(runner::Error::Rejected { reason: cut(reason) }),
            Failure::Fault { message } => Self::internal(format!("in a build worker: {}", cut(message))),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reports() -> impl Strategy<Value = ReportMessage> {
        let step = || prop::sample::select(STEPS).prop_map(str::to_owned);
        prop_oneof![
            step().prop_map(|step| ReportMessage::Started { step }),
            (step(), any::<u64>(), prop::option::of(".{0,40}"))
                .prop_map(|(step, duration_ms, failure)| ReportMessage::Ended { step, duration_ms, failure }),
            ".{0,40}".prop_map(|line| ReportMessage::Line { line }),
        ]
    }

    fn parts() -> impl Strategy<Value = PackageMessage> {
        let hash = (prop::sample::select(HASH_ALGORITHMS), "[0-9a-f]{64}");
        let hash = prop::option::of(hash.prop_map(|(algorithm, hex)| (algorithm.to_owned(), hex)));
        (prop::sample::select(PACKAGE_KINDS), "[a-z]{1,9}", "[0-9.]{1,9}", hash)
            .prop_map(|(kind, name, version, hash)| PackageMessage { kind: kind.into(), name, version, hash })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_report_survives_the_wire(report in reports()) {
            let sent = postcard::to_allocvec(&FromWorker::Report(report.clone())).unwrap();
            prop_assert_eq!(FromWorker::read(&sent), Ok(FromWorker::Report(report.clone())));
            prop_assert_eq!(ReportMessage::from(BuildReport::try_from(report.clone()).unwrap()), report);
        }

        #[test]
        fn a_package_survives_the_wire(part in parts()) {
            prop_assert_eq!(PackageMessage::from(Package::try_from(part.clone()).unwrap()), part);
        }

        #[test]
        fn random_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            drop(FromWorker::read(&bytes));
        }
    }

    #[test]
    fn a_refusal_survives_the_wire() {
        let refusals = [
            Error::failed("compile", "syntax", "no").at(Location::line("tool.py", 3)),
            Error::failed("toolchain", "sandbox", "no"),
            Error::Runner(runner::Error::Rejected { reason: "too large".into() }),
        ];
        for error in refusals {
            let (text, code, stage) = (error.to_string(), error.code(), error.stage());
            let there = Error::try_from(Failure::from(error)).unwrap();
            assert_eq!((there.to_string(), there.code(), there.stage()), (text, code, stage));
        }
        // The author does not see internal errors.
        assert_eq!(Error::try_from(Failure::from(Error::internal("disk"))).unwrap().code(), "internal");
    }

    #[test]
    fn a_long_text_is_cut() {
        let ReportMessage::Line { line } = ReportMessage::from(BuildReport::Line { line: "ä".repeat(1 << 20) }) else {
            panic!("a line")
        };
        // The last letter has two bytes.
        assert_eq!(line.len(), crate::text::MESSAGE_BYTES_MAX - 1);
    }
}
