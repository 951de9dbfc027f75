//! A language's image as a compiler: sources in, bundle out.
//!
//! The author's top-level code runs here, inside the sandbox's limits, in
//! whichever process calls this: the builder's confined child.

mod picture;

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store, UpdateDeadline};

use crate::bindings::image::Image;
use crate::bindings::image::lathe::tool::compiler as wire;
use crate::engine::{self, Room};
use crate::host::{self, Host};
use crate::limits::Limits;
use crate::mapped::Native;
use crate::outcome::cut;
use crate::slots::{Idle, Slots, Stacks};
use crate::{Error, Ports, Taping, stopped, ticker::Ticker};

/// Sources in, a bundle out: bounded by what the builder lets in.
const HOSTCALL_BYTES: usize = 192 << 20;
/// Of a failed check's message, which goes into answers, rows and logs.
const MESSAGE_BYTES_MAX: usize = 16 << 10;
const NAME_BYTES_MAX: usize = 1 << 10;
/// What the world `described-tool` exports.
const INPUT_SCHEMA: &str = "input-schema";

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
    /// Where the memory of an image is.
    slots: Option<Slots>,
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
        let unreadable = |error: io::Error| Error::internal(format!("compiled code cannot be read: {error}"));
        let file = File::open(code).map_err(unreadable)?;
        // SAFETY: the caller's promise.
        let mut native = unsafe { Native::map(&file, file.metadata().map_err(unreadable)?.len()) }?;
        let room = Room::new(1);
        // Few instances come and go here: nothing is gained by finding out what they wrote to.
        let slots = native.image().map(|image| Slots::new(image, room, None, Idle::default()));
        let engine = match slots.clone() {
            Some(slots) => engine::of_image(slots, Stacks::default()),
            None => engine::engine(room),
        };
        let engine = engine.map_err(Error::engine)?;
        let component = native.component(&engine)?;
        let linker = host::linker(&engine).map_err(Error::engine)?;
        Ok(Self { engine, component, linker, slots })
    }

    /// Compiles a project within the limits, and checks what came of it in a
    /// second instance: the author's code runs only there, when the bundle is
    /// already out of its reach. `Ok(Err(_))` is the author's failure.
    ///
    /// # Errors
    /// When the host has no thread to give.
    pub async fn compile(
        &self,
        project: Project,
        derive_schema: bool,
        limits: Limits,
    ) -> Result<Result<Bundle, CompileFailure>, Error> {
        let ticker = Ticker::start(&self.engine).map_err(|error| Error::internal(error.to_string()))?;
        let _ticking = ticker.run();
        Ok(self.try_compile(&wire::Project::from(project), derive_schema, limits).await)
    }

    async fn try_compile(
        &self,
        project: &wire::Project,
        derive_schema: bool,
        limits: Limits,
    ) -> Result<Bundle, CompileFailure> {
        let bytes = self.call(limits, async |image, store| image.call_compile(store, project).await).await?;
        let input_schema =
            self.call(limits, async |image, store| image.call_check(store, &bytes, derive_schema).await).await?;
        Ok(Bundle { bytes, input_schema })
    }

    /// Asks a tool of its own for the JSON Schema of its input; nothing when it does not tell. `Ok(Err(_))` is the author's
    /// failure.
    ///
    /// # Errors
    /// When the host has no thread to give.
    pub async fn input_schema(&self, limits: Limits) -> Result<Result<Option<String>, CompileFailure>, Error> {
        let ticker = Ticker::start(&self.engine).map_err(|error| Error::internal(error.to_string()))?;
        let _ticking = ticker.run();
        let mut store = self.store(limits, Taping::Off);
        Ok(match tokio::time::timeout(limits.wall(), self.ask(&mut store)).await {
            Ok(Ok(schema)) => Ok(schema),
            Ok(Err(error)) => Err(untold(stopped::message(&error), &store)),
            Err(_) => Err(untold(format!("it took longer than {} s", limits.wall().as_secs()), &store)),
        })
    }

    async fn ask(&self, store: &mut Store<Host>) -> wasmtime::Result<Option<String>> {
        let instance = self.linker.instantiate_async(&mut *store, &self.component).await?;
        let Some(function) = instance.get_func(&mut *store, INPUT_SCHEMA) else { return Ok(None) };
        let (schema,) = function.typed::<(), (String,)>(&*store)?.call_async(store, ()).await?;
        Ok(Some(schema))
    }

    /// One call in an instance of its own.
    async fn call<T>(
        &self,
        limits: Limits,
        call: impl AsyncFnOnce(Image, &mut Store<Host>) -> wasmtime::Result<Result<T, wire::CompileError>>,
    ) -> Result<T, CompileFailure> {
        let mut store = self.store(limits, Taping::Off);
        let call = async {
            let image = Image::instantiate_async(&mut store, &self.component, &self.linker).await?;
            call(image, &mut store).await
        };
        match tokio::time::timeout(limits.wall(), call).await {
            Ok(Ok(answer)) => answer.map_err(CompileFailure::from),
            Ok(Err(error)) => Err(stopped(&error)),
            Err(_) => Err(too_long(limits.wall())),
        }
    }

    fn store(&self, limits: Limits, taping: Taping) -> Store<Host> {
        let mut store = Store::new(&self.engine, Host::new([].into(), &limits, taping, Ports::closed()));
        store.limiter(|host| &mut host.limiter);
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Yield(1)));
        store
    }
}

fn stopped(error: &wasmtime::Error) -> CompileFailure {
    let message = stopped::message(error);
    failure("import", format!("importing the tool stopped the interpreter: {message}"))
}

/// With what the tool printed, which may say why.
fn untold(problem: String, store: &Store<Host>) -> CompileFailure {
    let message = format!("the tool does not tell what its input is: {problem}\n{}", store.data().log.text());
    failure("input-schema", cut(message.trim_end().to_owned(), MESSAGE_BYTES_MAX))
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
            files: files(project.files),
            dependencies: files(project.dependencies),
        }
    }
}

impl From<wire::CompileError> for CompileFailure {
    fn from(error: wire::CompileError) -> Self {
        let wire::CompileError { check, message, file, line } = error;
        let short = |text| cut(text, NAME_BYTES_MAX);
        Self { check: short(check), message: cut(message, MESSAGE_BYTES_MAX), file: file.map(short), line }
    }
}
