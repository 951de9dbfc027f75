//! Runs cargo in the sandbox.
//!
//! Cargo starts outside of the project, so that it reads no settings from there. Paths inside the sandbox are always the
//! same, so that the same sources give the same bytes on every machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::installation::{RustInstallation, WASM_TARGET};
use super::messages;
use crate::error::Error;
use crate::progress::Progress;
use crate::sandbox::{BUILD_DIRECTORY, Failure, Job, Sandbox, ScratchDirectory, Shown};

const STAGE: &str = "compile";
/// The project's path inside the job.
const SOURCE: &str = "/src";
/// The crates' path inside the job.
const VENDOR: &str = "/vendor";
/// 1980-01-01, for programs that write a date into their output.
const SOURCE_DATE_EPOCH: &str = "315532800";

/// The path of the project's copy on this machine.
pub fn source(scratch: &ScratchDirectory) -> PathBuf {
    scratch.path().join("src")
}

/// The path of the crates on this machine.
pub fn vendor(scratch: &ScratchDirectory) -> PathBuf {
    scratch.path().join("vendor")
}

/// The build of a project whose crates were fetched.
pub struct Build<'a> {
    pub installation: &'a RustInstallation,
    pub scratch: &'a ScratchDirectory,
    /// The name of the component's file.
    pub library: &'a str,
}

impl Build<'_> {
    /// Compiles the component.
    ///
    /// # Errors
    /// The compiler's first error, with file and line.
    pub async fn run(&self, sandbox: &Sandbox, progress: &Progress) -> Result<Vec<u8>, Error> {
        let log_before = progress.log().len();
        let finished = sandbox.run(self.job()?, progress).await.map_err(|failure| {
            let log = progress.log();
            refusal(&failure, log.get(log_before..).unwrap_or_default())
        })?;
        finished.output.ok_or_else(|| Error::internal("the sandbox returned no component"))
    }

    fn job(&self) -> Result<Job, Error> {
        let (shown, programs) = self.installation.shown()?;
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

/// Cargo's first error if cargo exited by itself, otherwise the failure of the job.
fn refusal(failure: &Failure, log: &str) -> Error {
    let first = matches!(failure, Failure::Status { .. }).then(|| messages::first_error(log)).flatten();
    match first {
        Some(messages::CompilerError { check, message, location }) => {
            Error::failed(STAGE, &check, message).at(location)
        }
        None => failure.of_stage(STAGE, "cargo"),
    }
}
