//! One run of cargo in the sandbox.
//!
//! It starts outside the project, so that it reads no settings of cargo from there, and its paths are always the same, so
//! that the same sources give the same bytes wherever they are built.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::messages;
use super::programs::{Programs, WASM_TARGET};
use crate::error::Error;
use crate::progress::Progress;
use crate::sandbox::{BUILD_DIRECTORY, Failure, Job, Sandbox, ScratchDirectory, Shown};

const STAGE: &str = "compile";
/// The project, as the job sees it.
const SOURCE: &str = "/src";
/// Its crates.
const VENDOR: &str = "/vendor";
/// 1980-01-01, for what writes a date into what it makes.
const SOURCE_DATE_EPOCH: &str = "315532800";

/// Where a build's own copy of the project lies on this machine.
pub fn source(scratch: &ScratchDirectory) -> PathBuf {
    scratch.path().join("src")
}

pub fn vendor(scratch: &ScratchDirectory) -> PathBuf {
    scratch.path().join("vendor")
}

/// A project whose crates were fetched.
pub struct Build<'a> {
    pub programs: &'a Programs,
    pub scratch: &'a ScratchDirectory,
    /// What its component is called.
    pub library: &'a str,
}

impl Build<'_> {
    /// Makes the component.
    ///
    /// # Errors
    /// What the compiler says first, with file and line.
    pub async fn run(&self, sandbox: &Sandbox, progress: &Progress) -> Result<Vec<u8>, Error> {
        let said_before = progress.log().len();
        let finished = sandbox.run(self.job()?, progress).await.map_err(|failure| {
            let log = progress.log();
            refusal(&failure, log.get(said_before..).unwrap_or_default())
        })?;
        finished.output.ok_or_else(|| Error::internal("the sandbox took no component"))
    }

    fn job(&self) -> Result<Job, Error> {
        let (shown, programs) = self.programs.shown()?;
        let target = Path::new(BUILD_DIRECTORY).join("target");
        let component = target.join(WASM_TARGET).join("release").join(format!("{}.wasm", self.library));
        let mut read_only = vec![Shown::new(source(self.scratch), SOURCE), Shown::new(vendor(self.scratch), VENDOR)];
        read_only.extend(shown);
        Ok(Job {
            arguments: arguments(&target),
            environment: environment(&programs),
            read_only,
            output: Some(component),
            ..Job::new(programs.join("cargo"))
        })
    }
}

fn arguments(target: &Path) -> Vec<OsString> {
    let manifest = format!("{SOURCE}/Cargo.toml");
    let sources =
        ["source.crates-io.replace-with=\"vendor\"".to_owned(), format!("source.vendor.directory=\"{VENDOR}\"")];
    let mut arguments: Vec<OsString> = ["build", "--lib", "--release", "--locked", "--offline"].map(Into::into).into();
    arguments.extend(["--target".into(), WASM_TARGET.into(), "--target-dir".into(), target.into()]);
    arguments.extend(["--manifest-path".into(), manifest.into()]);
    arguments.extend(sources.into_iter().flat_map(|source| ["--config".into(), source.into()]));
    arguments
}

fn environment(programs: &Path) -> Vec<(String, String)> {
    let rustc = programs.join("rustc").display().to_string();
    let home = format!("{BUILD_DIRECTORY}/cargo");
    let variables = [
        ("RUSTC", rustc.as_str()),
        ("CARGO_HOME", &home),
        ("CARGO_INCREMENTAL", "0"),
        ("CARGO_TERM_COLOR", "never"),
        ("SOURCE_DATE_EPOCH", SOURCE_DATE_EPOCH),
    ];
    variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// What cargo said, when it ended by itself; otherwise what the sandbox did.
fn refusal(failure: &Failure, log: &str) -> Error {
    let said = matches!(failure, Failure::Status { .. }).then(|| messages::first_error(log)).flatten();
    match said {
        Some(messages::Said { check, message, place }) => Error::failed(STAGE, &check, message, place),
        None => failure.of_stage(STAGE, "cargo"),
    }
}
