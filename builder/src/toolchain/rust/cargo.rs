//! Runs cargo in the sandbox.
//!
//! Cargo starts outside of the project, so that it reads no settings from there. Paths inside the sandbox are always the
//! same, so that the same sources give the same bytes on every machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::installation::{RustInstallation, WASM_TARGET};
use super::lock::Lock;
use super::messages;
use crate::blocking::blocking;
use crate::error::Error;
use crate::progress::BuildProgress;
use crate::sandbox::{BUILD_DIRECTORY, Failure, Job, ReadOnlyMount, Sandbox, ScratchDirectory, files};

const STAGE: &str = "compile";
/// The project's path inside the job.
const SOURCE: &str = "/src";
/// The crates' path inside the job.
const VENDOR: &str = "/vendor";
/// 1980-01-01, for programs that write a date into their output, and as the time of the crates' files.
pub const SOURCE_DATE_EPOCH: i64 = 315_532_800;

/// The archive of compiled dependencies: its name in the build's directory, and below the root of jobs.
pub const ARCHIVE: &str = "dependencies.tar";
/// Bytes of that archive. A larger one is not made.
const ARCHIVE_BYTES_MAX: u64 = 256 << 20;
/// Compiles the project, after unpacking its dependencies if they are compiled already. `$0` is cargo.
const COMPILE: &str = r#"mkdir target && { [ ! -e /dependencies.tar ] || tar -xf /dependencies.tar -C target; } &&
    exec "$0" build --lib "$@""#;

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
    /// The crates of the lock file.
    pub lock: &'a Lock,
    pub sandbox: &'a Sandbox,
    pub progress: &'a BuildProgress,
}

impl Build<'_> {
    /// Compiles the component, whose file has the name `library`.
    ///
    /// # Errors
    /// The compiler's first error, with file and line.
    pub async fn compile_component(&self, library: &str) -> Result<Vec<u8>, Error> {
        let component = Path::new(BUILD_DIRECTORY).join("target").join(WASM_TARGET).join("release");
        let mut job = self.build_job(COMPILE, source(self.scratch))?;
        job.output = Some(component.join(format!("{library}.wasm")));
        let archive = self.scratch.path().join(ARCHIVE);
        if archive.exists() {
            job.read_only.push(ReadOnlyMount::new(archive, Path::new("/").join(ARCHIVE)));
        }
        let log_before = self.progress.log().len();
        let finished =
            self.sandbox.run(job, self.progress).await.map_err(|failure| self.refusal(&failure, log_before))?;
        finished.output.ok_or_else(|| Error::internal("the sandbox returned no component"))
    }

    /// Compiles the dependencies of a project with empty source files, and returns the archive of them. `None` when they
    /// cannot be compiled alone.
    ///
    /// # Errors
    /// The first error of a crate that does not compile.
    pub async fn compile_dependencies(&self, skeleton: BTreeMap<String, Vec<u8>>) -> Result<Option<Vec<u8>>, Error> {
        let directory = self.scratch.path().join("skeleton");
        let written = directory.clone();
        blocking(move || files::write_all(&written, &skeleton)).await?.map_err(Error::internal)?;
        let mut job = self.build_job(&build_dependencies_script(&self.lock.own), directory)?;
        job.output = Some(Path::new(BUILD_DIRECTORY).join(ARCHIVE));
        job.bounds.output_bytes = ARCHIVE_BYTES_MAX;
        let log_before = self.progress.log().len();
        match self.sandbox.run(job, self.progress).await {
            Ok(finished) => Ok(finished.output),
            Err(Failure::Output { .. }) => Ok(None),
            Err(Failure::Status { .. }) if !self.is_of_a_dependency(log_before) => Ok(None),
            Err(failure) => Err(self.refusal(&failure, log_before)),
        }
    }

    /// A job that runs a script with cargo's command line, on the project in a directory.
    fn build_job(&self, script: &str, source: PathBuf) -> Result<Job, Error> {
        let (shown, programs) = self.installation.find_mount()?;
        let target = Path::new(BUILD_DIRECTORY).join("target");
        let mut read_only = vec![ReadOnlyMount::new(source, SOURCE), ReadOnlyMount::new(vendor(self.scratch), VENDOR)];
        read_only.extend(shown);
        let mut arguments: Vec<OsString> = vec!["-c".into(), script.into(), programs.join("cargo").into()];
        arguments.extend(list_options(&target));
        Ok(Job { arguments, environment: build_environment(&programs), read_only, ..Job::new("/bin/sh") })
    }

    /// Whether a crate of the registry failed to compile.
    fn is_of_a_dependency(&self, log_before: usize) -> bool {
        let log = self.progress.log();
        let failed = messages::find_failed_crate(log.get(log_before..).unwrap_or_default());
        failed.is_some_and(|name| self.lock.pinned.iter().any(|pinned| pinned.name == name))
    }

    /// Cargo's first error if cargo exited by itself, otherwise the failure of the job.
    fn refusal(&self, failure: &Failure, log_before: usize) -> Error {
        let log = self.progress.log();
        let log = log.get(log_before..).unwrap_or_default();
        let first = matches!(failure, Failure::Status { .. }).then(|| messages::find_first_error(log)).flatten();
        match first {
            Some(messages::CompilerError { check, message, location }) => {
                Error::failed(STAGE, &check, message).at(location)
            }
            None => failure.of_stage(STAGE, "cargo"),
        }
    }
}

/// A script that compiles the dependencies and archives them. Cargo's `clean` removes the project's own crates, so that the
/// next build cannot take the empty ones for compiled ones. Names of crates have no characters with a meaning in a shell.
fn build_dependencies_script(own: &[String]) -> String {
    let own: String = own.iter().map(|name| format!(" --package {name}")).collect();
    format!(r#""$0" build --lib "$@" && "$0" clean --quiet "$@"{own} && tar -cf dependencies.tar -C target ."#)
}

fn list_options(target: &Path) -> Vec<OsString> {
    let manifest = format!("{SOURCE}/Cargo.toml");
    let sources =
        ["source.crates-io.replace-with=\"vendor\"".to_owned(), format!("source.vendor.directory=\"{VENDOR}\"")];
    let mut options: Vec<OsString> = ["--release", "--locked", "--offline"].map(Into::into).into();
    options.extend(["--target".into(), WASM_TARGET.into(), "--target-dir".into(), target.into()]);
    options.extend(["--manifest-path".into(), manifest.into()]);
    options.extend(sources.into_iter().flat_map(|source| ["--config".into(), source.into()]));
    options
}

fn build_environment(programs: &Path) -> Vec<(String, String)> {
    let rustc = programs.join("rustc").display().to_string();
    let home = format!("{BUILD_DIRECTORY}/cargo");
    let date = SOURCE_DATE_EPOCH.to_string();
    let variables = [
        ("RUSTC", rustc.as_str()),
        ("CARGO_HOME", &home),
        ("CARGO_INCREMENTAL", "0"),
        ("CARGO_TERM_COLOR", "never"),
        ("SOURCE_DATE_EPOCH", &date),
    ];
    variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
