//! Imports a tool's packages once in an instance of the image, and captures the memory of that instance.
//!
//! A package that cannot be imported ahead of a run, or would then differ between runs, is not imported. Its files are
//! in memory, and each run imports it.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use registry::Language;
use runner::{CompileFailure, Interpreter, Limits, Project, SourceFile};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::interpreter::{LIMITS, with_loaded};

/// Limits of one attempt. Several attempts and their preparation must fit into the child's time. Large packages take a
/// second.
const ATTEMPT: Limits = Limits { wall_ms: 10_000, cpu_ms: 10_000, ..LIMITS };
/// Time for finding the packages to leave out, if there are any. Packages that have not been tried by then are left
/// out, too.
const TRIALS_MAX: Duration = Duration::from_secs(10);

/// The names of the modules that this step adds. A project with modules of the same names gets no snapshot.
pub const PYTHON_MODULES: [&str; 2] = ["lathe_packages", "lathe_preload"];
/// The required entry point.
const PYTHON_ENTRY: &str =
    "def run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables): ...\n";
/// The names of esbuild's two output files.
const SCRIPT: &str = "bundle.js";
const MAP: &str = "bundle.js.map";
const NO_MAP: &str = r#"{"version":3,"sources":[],"mappings":""}"#;
const JAVASCRIPT_ENTRY: &str = "\nexports.runTool = () => '';\n";

/// The packages to load into memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Packages {
    pub language: Language,
    /// All files of all packages. In JavaScript, one script that loads packages on demand.
    pub files: Vec<SourceFile>,
    /// The modules to import, by the names that the tool uses.
    pub imports: Vec<String>,
}

/// The result of loading packages into memory.
#[derive(Debug, Serialize, Deserialize)]
pub struct Loaded {
    /// The modules that each run imports itself, with the reasons.
    pub left_out: Vec<(String, String)>,
    /// Whether an import has timed out, so that a faster or less busy machine may load more packages.
    pub has_timed_out: bool,
}

/// The reason why the files cannot be loaded into memory even without an import.
#[derive(Debug, Serialize, Deserialize)]
pub struct Unloaded {
    pub reason: String,
    pub has_timed_out: bool,
}

/// The child process, which writes the result of loading, followed by the memory.
pub fn run_child(code: &Path, packages: Packages) -> io::Result<()> {
    let made = with_loaded(code, async |image| import_packages(&image, packages).await)?;
    let (answer, memory) = match made {
        Ok(Ok((loaded, memory))) => (Ok(loaded), memory),
        Ok(Err(unloaded)) => (Err(unloaded), Vec::new()),
        Err(error) => (Err(Unloaded { reason: error.to_string(), has_timed_out: true }), Vec::new()),
    };
    let mut output = io::stdout().lock();
    output.write_all(&postcard::to_allocvec(&answer).map_err(io::Error::other)?)?;
    output.write_all(&memory)
}

type ImportResult<T> = Result<Result<T, CompileFailure>, runner::Error>;

/// Attempts to import modules, each in an instance with the packages' files.
struct Attempts<'a> {
    image: &'a Interpreter,
    language: Language,
    files: Vec<u8>,
    /// Whether an attempt has timed out.
    has_timed_out: Cell<bool>,
}

/// The loaded packages with the memory, or the reason for the failure.
type Ended = Result<(Loaded, Vec<u8>), Unloaded>;

async fn import_packages(image: &Interpreter, packages: Packages) -> Result<Ended, runner::Error> {
    let Packages { language, files, imports } = packages;
    let start = Instant::now();
    let files = match image.bundle(build_project_without_imports(language, files), LIMITS).await? {
        Ok(files) => files,
        Err(CompileFailure { message, .. }) => {
            return Ok(Err(Unloaded { reason: message, has_timed_out: start.elapsed() >= LIMITS.wall() }));
        }
    };
    let attempts = Attempts { image, language, files, has_timed_out: Cell::new(false) };
    if let Ok(memory) = attempts.capture_memory(&imports).await? {
        return Ok(Ok((attempts.to_loaded(Vec::new()), memory)));
    }
    let (good, mut left_out) = attempts.try_each(imports).await?;
    match attempts.capture_memory(&good).await? {
        Ok(memory) => Ok(Ok((attempts.to_loaded(left_out), memory))),
        Err(failure) => {
            left_out.extend(good.into_iter().map(|name| (name, failure.message.clone())));
            let memory = attempts.capture_memory(&[]).await?;
            let unloaded = |failure: CompileFailure| Unloaded {
                reason: failure.message,
                has_timed_out: attempts.has_timed_out.get(),
            };
            Ok(memory.map(|memory| (attempts.to_loaded(left_out), memory)).map_err(unloaded))
        }
    }
}

impl Attempts<'_> {
    fn to_loaded(&self, left_out: Vec<(String, String)>) -> Loaded {
        Loaded { left_out, has_timed_out: self.has_timed_out.get() }
    }

    async fn capture_memory(&self, imports: &[String]) -> ImportResult<Vec<u8>> {
        let start = Instant::now();
        let made = self.capture_memory_once(imports).await;
        if matches!(made, Ok(Err(_))) && start.elapsed() >= ATTEMPT.wall() {
            self.has_timed_out.set(true);
        }
        made
    }

    async fn capture_memory_once(&self, imports: &[String]) -> ImportResult<Vec<u8>> {
        match self.image.bundle(build_project_with_imports(self.language, imports), LIMITS).await? {
            // The JavaScript engine reads the clock at arbitrary times.
            Ok(load) => {
                let counts_clock_reads = self.language == Language::Python;
                self.image.memory_capture(&[self.files.clone(), load], counts_clock_reads, ATTEMPT).await
            }
            Err(failure) => Ok(Err(failure)),
        }
    }

    /// Tries each import in an instance of its own. Returns the imports that succeed and those that fail.
    async fn try_each(&self, imports: Vec<String>) -> Result<(Vec<String>, Vec<(String, String)>), runner::Error> {
        let (mut good, mut left_out) = (Vec::new(), Vec::new());
        let deadline = Instant::now() + TRIALS_MAX;
        for name in imports {
            let attempt = tokio::time::timeout_at(deadline, self.capture_memory(std::slice::from_ref(&name))).await;
            match attempt {
                Ok(tried) => match tried? {
                    Ok(_) => good.push(name),
                    Err(failure) => left_out.push((name, failure.message)),
                },
                Err(_) => {
                    self.has_timed_out.set(true);
                    left_out.push((name, "there was no time left to try".to_owned()));
                }
            }
        }
        Ok((good, left_out))
    }
}

/// A project that contains the packages and imports none.
fn build_project_without_imports(language: Language, files: Vec<SourceFile>) -> Project {
    if language == Language::Python {
        return build_python_project(PYTHON_MODULES[0], "", files);
    }
    // The script has its own name, so that stack traces do not attribute its lines to the author.
    let text = files.into_iter().map(|file| String::from_utf8_lossy(&file.contents).into_owned()).collect::<String>();
    let text = format!("(function (module, exports) {{{text}\n}})({{}}, {{}})\n//# sourceURL=lathe:packages");
    let script = serde_json::Value::from(text);
    build_javascript_project(&format!("(0, eval)({script});"))
}

/// A project that imports packages.
fn build_project_with_imports(language: Language, imports: &[String]) -> Project {
    let names = serde_json::Value::from(imports);
    if language == Language::Python {
        let text = format!("from lathe_runtime import packages\npackages.load({names})\n");
        return build_python_project(PYTHON_MODULES[1], &text, Vec::new());
    }
    build_javascript_project(&include_str!("packages.js").replace("[/* names */]", &names.to_string()))
}

fn build_python_project(module: &str, text: &str, dependencies: Vec<SourceFile>) -> Project {
    let files = vec![build_source(&format!("{module}.py"), text, PYTHON_ENTRY)];
    Project { entry_point: format!("{module}:run_tool"), files, dependencies }
}

fn build_javascript_project(text: &str) -> Project {
    let files = vec![build_source(SCRIPT, text, JAVASCRIPT_ENTRY), build_source(MAP, NO_MAP, "")];
    Project { entry_point: SCRIPT.into(), files, dependencies: Vec::new() }
}

fn build_source(path: &str, text: &str, more: &str) -> SourceFile {
    SourceFile { path: path.into(), contents: [text, more].concat().into_bytes() }
}
