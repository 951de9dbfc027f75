//! A language's image as a compiler: sources in, bundle out.
//!
//! The author's top-level code runs here, inside the sandbox's limits, in
//! whichever process calls this: the builder's confined child.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store, UpdateDeadline};

use crate::bindings::image::Image;
use crate::bindings::image::lathe::tool::compiler as wire;
use crate::host::{self, Host};
use crate::limits::Limits;
use crate::{Error, engine, ticker::Ticker};

/// A source file, relative to its project or package directory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SourceFile {
    pub path: String,
    pub contents: Vec<u8>,
}

/// What an image compiles.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Project {
    pub entry_point: String,
    pub derive_schema: bool,
    pub files: Vec<SourceFile>,
    pub dependencies: Vec<SourceFile>,
}

/// A failed check of the author's code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileFailure {
    pub check: String,
    pub message: String,
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// What it made of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Bundle {
    pub bytes: Vec<u8>,
    pub input_schema: Option<String>,
}

/// A loaded image.
pub struct Interpreter {
    engine: Engine,
    component: Component,
    linker: Linker<Host>,
}

impl Interpreter {
    /// Loads compiled code that the caller has verified.
    ///
    /// # Errors
    /// When the file is no code of this engine.
    ///
    /// # Safety
    /// The file must be code that this release's compiler made: it is executed.
    pub unsafe fn load(code: &Path) -> Result<Self, Error> {
        let engine = engine::engine(1, Limits::MAX.memory_bytes).map_err(Error::engine)?;
        // SAFETY: the caller's promise.
        let component = unsafe { Component::deserialize_file(&engine, code) }.map_err(Error::engine)?;
        let linker = host::linker(&engine).map_err(Error::engine)?;
        Ok(Self { engine, component, linker })
    }

    /// Compiles a project within the limits. `Ok(Err(_))` is the author's failure.
    ///
    /// # Errors
    /// When the image itself fails.
    pub async fn compile(&self, project: Project, limits: Limits) -> Result<Result<Bundle, CompileFailure>, Error> {
        let mut store = self.store(limits);
        let ticker = Ticker::start(&self.engine).map_err(|error| Error::internal(error.to_string()))?;
        let _ticking = ticker.run();
        let call = async {
            let image = Image::instantiate_async(&mut store, &self.component, &self.linker).await?;
            image.call_compile(&mut store, &wire::Project::from(project)).await
        };
        Ok(match tokio::time::timeout(limits.wall(), call).await {
            Ok(Ok(answer)) => answer.map(Bundle::from).map_err(CompileFailure::from),
            Ok(Err(error)) => Err(stopped(&error)),
            Err(_) => Err(too_long(limits.wall())),
        })
    }

    fn store(&self, limits: Limits) -> Store<Host> {
        let mut store = Store::new(&self.engine, Host::new([].into(), &limits, Box::new(drop)));
        store.limiter(|host| &mut host.limiter);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Yield(1)));
        store
    }
}

fn stopped(error: &wasmtime::Error) -> CompileFailure {
    let message = match crate::Outcome::stopped(error) {
        crate::Outcome::Failed { exception_message, .. } => exception_message,
        crate::Outcome::Succeeded { .. } => error.to_string(),
    };
    failure("import", format!("importing the tool stopped the interpreter: {message}"))
}

fn too_long(limit: Duration) -> CompileFailure {
    failure("import", format!("importing the tool took longer than {} s", limit.as_secs()))
}

fn failure(check: &str, message: String) -> CompileFailure {
    CompileFailure { check: check.into(), message, file: None, line: None }
}

impl From<Project> for wire::Project {
    fn from(project: Project) -> Self {
        let files = |list: Vec<SourceFile>| {
            list.into_iter().map(|SourceFile { path, contents }| wire::SourceFile { path, contents }).collect()
        };
        Self {
            entry_point: project.entry_point,
            derive_schema: project.derive_schema,
            files: files(project.files),
            dependencies: files(project.dependencies),
        }
    }
}

impl From<wire::Compiled> for Bundle {
    fn from(made: wire::Compiled) -> Self {
        Self { bytes: made.bundle, input_schema: made.input_schema }
    }
}

impl From<wire::CompileError> for CompileFailure {
    fn from(error: wire::CompileError) -> Self {
        let wire::CompileError { check, message, file, line } = error;
        Self { check, message, file, line }
    }
}
