//! Compiles an author's sources to a bundle, by running a language's image.
//!
//! The author's top-level code runs here, inside the sandbox's limits, in the calling process: the builder's confined child.

mod memory_capture;
mod snapshot;

pub use snapshot::{memory_of, with_memory};

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store, UpdateDeadline};

use crate::interaction::Interaction;
use crate::limits::Limits;
use crate::sandbox::bindings::image::Image;
use crate::sandbox::bindings::image::lathe::tool::compiler as wire;
use crate::sandbox::engine::{EngineCapacity, Ticker};
use crate::sandbox::host::{self, Host, HostSettings};
use crate::sandbox::memory_reuse::{self, ImageEngine, MappedCode, MemoryReuse, SlotAllocator};
use crate::sandbox::run_end;
use crate::sandbox::stopped_calls::{self, Position};
use crate::text::cut;
use crate::{Error, Ports, TapeMode};

/// Bytes that pass between host and guest: sources and a bundle, which the builder bounds.
const HOSTCALL_BYTES: usize = 192 << 20;
/// Time to compile sources. The largest packages need some 15 seconds of computing, which take much longer on a busy machine.
/// No code of an author runs meanwhile, so nothing can wait here, and the calling process has a limit of computing time.
const COMPILE_WALL_MS: u64 = 90_000;
/// Size of a failed check's message, which is part of responses, records and logs.
const MESSAGE_BYTES_MAX: usize = 16 << 10;
const NAME_BYTES_MAX: usize = 1 << 10;
/// Export of the world `described-tool`.
const INPUT_SCHEMA: &str = "input-schema";

/// A source file, relative to its project or package directory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SourceFile {
    pub path: String,
    pub contents: Vec<u8>,
}

/// Sources of a tool and of its dependencies.
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

/// A compiled project.
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
    /// Memories of the image; `None` when the component is not an image.
    memories: Option<SlotAllocator>,
}

impl Interpreter {
    /// Loads compiled code that the caller has verified.
    ///
    /// # Errors
    /// When the file is not code of this engine.
    ///
    /// # Safety
    /// This release's compiler must have made the file: its code is executed.
    pub unsafe fn load(code: &Path) -> Result<Self, Error> {
        let unreadable = |error: io::Error| Error::internal(format!("compiled code cannot be read: {error}"));
        let file = File::open(code).map_err(unreadable)?;
        // SAFETY: the caller's promise.
        let mut code = unsafe { MappedCode::map(&file, file.metadata().map_err(unreadable)?.len()) }?;
        let capacity = EngineCapacity::new(1);
        // Without a page map: for a few instances, tracking written pages gains nothing.
        let (engine, memories) = match MemoryReuse::new(capacity, None).build_engine(&mut code)? {
            Some(ImageEngine { engine, memories }) => (engine, Some(memories)),
            None => (memory_reuse::build_pool_engine(capacity)?, None),
        };
        let component = code.load_component(&engine)?;
        let linker = host::build_linker(&engine).map_err(Error::engine)?;
        Ok(Self { engine, component, linker, memories })
    }

    /// Compiles a project within the limits, and checks the bundle in a second instance. The author's code runs only there, and
    /// can no longer change the bundle. `Ok(Err(_))` is the author's failure.
    ///
    /// # Errors
    /// When the system has no thread for the ticker.
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
        let bytes = self.compile_sources(project, limits).await?;
        let check = async |image: Image, store: &mut Store<Host>| image.call_check(store, &bytes, derive_schema).await;
        let input_schema = self.call(limits, &bytes, "importing the tool", check).await?;
        Ok(Bundle { bytes, input_schema })
    }

    /// Asks a compiled tool for the JSON Schema of its input; `None` when the tool does not export one. `Ok(Err(_))` is the
    /// author's failure.
    ///
    /// # Errors
    /// When the system has no thread for the ticker.
    pub async fn input_schema(&self, limits: Limits) -> Result<Result<Option<String>, CompileFailure>, Error> {
        let ticker = Ticker::start(&self.engine).map_err(|error| Error::internal(error.to_string()))?;
        let _ticking = ticker.run();
        let mut store = self.build_store(limits, TapeMode::Off);
        Ok(match tokio::time::timeout(limits.wall(), self.ask(&mut store)).await {
            Ok(Ok(schema)) => Ok(schema),
            Ok(Err(error)) => Err(report_undescribed(run_end::write_message(&error), &store)),
            Err(_) => {
                Err(report_undescribed(format!("the call took longer than {} s", limits.wall().as_secs()), &store))
            }
        })
    }

    async fn ask(&self, store: &mut Store<Host>) -> wasmtime::Result<Option<String>> {
        let instance = self.linker.instantiate_async(&mut *store, &self.component).await?;
        let Some(function) = instance.get_func(&mut *store, INPUT_SCHEMA) else { return Ok(None) };
        let (schema,) = function.typed::<(), (String,)>(&*store)?.call_async(store, ()).await?;
        Ok(Some(schema))
    }

    /// Compiles sources in an instance that runs none of the author's code.
    async fn compile_sources(&self, project: &wire::Project, limits: Limits) -> Result<Vec<u8>, CompileFailure> {
        let sources = project.files.iter().chain(&project.dependencies);
        let bytes: usize = sources.map(|file| file.contents.len()).sum();
        let activity = format!("compiling the tool with its packages ({bytes} bytes)");
        let limits = Limits { wall_ms: COMPILE_WALL_MS, ..limits };
        self.call(limits, &[], &activity, async |image, store| image.call_compile(store, project).await).await
    }

    /// Calls an export in a fresh instance, in which code of the `bundle` may run. The message of a failure names the `activity`.
    async fn call<T>(
        &self,
        limits: Limits,
        bundle: &[u8],
        activity: &str,
        call: impl AsyncFnOnce(Image, &mut Store<Host>) -> wasmtime::Result<Result<T, wire::CompileError>>,
    ) -> Result<T, CompileFailure> {
        let mut store = self.build_store(limits, TapeMode::Off);
        let call = async {
            let image = Image::instantiate_async(&mut store, &self.component, &self.linker).await?;
            call(image, &mut store).await
        };
        let failure = match tokio::time::timeout(limits.wall(), call).await {
            Ok(Ok(answer)) => return answer.map_err(CompileFailure::from),
            Ok(Err(error)) => report_stopped(activity, &error),
            Err(_) => report_too_long(activity, limits.wall()),
        };
        Err(match self.read_innermost_call(store, bundle) {
            Some(Position { file, line }) => CompileFailure { file: Some(file), line, ..failure },
            None => failure,
        })
    }

    /// The call of the author's code in which an instance was stopped.
    fn read_innermost_call(&self, store: Store<Host>, bundle: &[u8]) -> Option<Position> {
        let bundle = bundle.to_vec();
        let read = self.memories.as_ref()?.read_next(move |memory| stopped_calls::read_innermost(memory, &bundle));
        drop(store);
        read.try_recv().ok().flatten()
    }

    fn build_store(&self, limits: Limits, tape_mode: TapeMode) -> Store<Host> {
        let settings =
            HostSettings { bundle: [].into(), limits: &limits, tape_mode, interaction: Interaction::default() };
        let mut store = Store::new(&self.engine, Host::new(settings, Ports::closed()));
        store.limiter(|host| &mut host.limiter);
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Yield(1)));
        store
    }
}

fn report_stopped(activity: &str, error: &wasmtime::Error) -> CompileFailure {
    let message = run_end::write_message(error);
    build_failure("import", format!("{activity} stopped the interpreter: {message}"))
}

/// Failure to describe the input, with the tool's output, which may tell the cause.
fn report_undescribed(problem: String, store: &Store<Host>) -> CompileFailure {
    let message = format!("the tool does not tell what its input is: {problem}\n{}", store.data().log.read_text());
    build_failure("input-schema", cut(message.trim_end().to_owned(), MESSAGE_BYTES_MAX))
}

fn report_too_long(activity: &str, limit: Duration) -> CompileFailure {
    build_failure("import", format!("{activity} took longer than {} s", limit.as_secs()))
}

fn build_failure(check: &str, message: String) -> CompileFailure {
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
