//! The calls in which the host stopped a JavaScript tool: the engine has their positions in the bundle's script, whose source map
//! has the positions in the author's files.

mod engine;
mod memory;
mod notes;
mod script;
mod source_map;
mod waiting;

use std::fmt;

use engine::{Call, Engine};
use source_map::Location;

use super::position::{Position, SHOWN_MAX};

/// The directory of packages.
const PACKAGES: &str = "node_modules/";
/// Bytes of the script's length, with which a bundle begins; see the image's `bundle.js`.
const LENGTH_BYTES: usize = 4;
/// Characters that the image puts before the script on its first line.
const FIRST_LINE_COLUMNS: u32 = "(function (module, exports) {".len() as u32;

/// The calls in the bundle's script, innermost first.
#[derive(Debug, Default)]
pub struct ScriptCalls(Vec<Call>);

impl ScriptCalls {
    /// The calls that the engine is in; or, if it is in none of the author's, those that wait.
    pub fn read(memory: &[u8]) -> Self {
        let running = Self::read_running(memory);
        if !running.0.is_empty() {
            return running;
        }
        Self(Engine::find(memory).map(|engine| engine.read_waiting_calls(SHOWN_MAX)).unwrap_or_default())
    }

    /// The calls that the engine is in.
    pub fn read_running(memory: &[u8]) -> Self {
        Self(Engine::find(memory).map(|engine| engine.read_calls(SHOWN_MAX)).unwrap_or_default())
    }

    /// The calls as lines of a stack trace, innermost first, as the image's `errors.js` writes them.
    pub fn read_stack_trace(&self, bundle: &[u8]) -> Vec<String> {
        self.read_frames(bundle).map(|frame| frame.to_string()).collect()
    }

    /// The innermost call in the project's own files.
    pub fn find_innermost(&self, bundle: &[u8]) -> Option<Position> {
        let own = self.read_frames(bundle).find(|frame| !frame.location.file.starts_with(PACKAGES))?;
        Some(Position { file: own.location.file, line: Some(own.location.line) })
    }

    /// The calls that are in source files. Others are the bundler's.
    fn read_frames(&self, bundle: &[u8]) -> impl Iterator<Item = Frame> {
        let in_script = |call: &Call| {
            let before = if call.line == 1 { FIRST_LINE_COLUMNS } else { 0 };
            (call.line, call.column.saturating_sub(before))
        };
        let positions: Vec<_> = self.0.iter().map(in_script).collect();
        let map = find_source_map(bundle).filter(|_| !positions.is_empty()).unwrap_or_default();
        let located = source_map::locate(map, &positions).into_iter().zip(&self.0);
        located.filter_map(|(location, call)| Some(Frame { function: call.name(), location: location? }))
    }
}

/// Whether a stack trace is that of the text which the engine throws when it is refused memory.
pub fn is_out_of_memory(stack_trace: &[String]) -> bool {
    stack_trace == ["Error: out of memory"]
}

/// A call with its position in a source file.
#[derive(Debug)]
struct Frame {
    function: String,
    location: Location,
}

impl fmt::Display for Frame {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, location: Location { file, line, column } } = self;
        match function.as_str() {
            "" => write!(formatter, "    at {file}:{line}:{column}"),
            function => write!(formatter, "    at {function} ({file}:{line}:{column})"),
        }
    }
}

fn find_source_map(bundle: &[u8]) -> Option<&[u8]> {
    let (length, rest) = bundle.split_first_chunk::<LENGTH_BYTES>()?;
    rest.get(usize::try_from(u32::from_le_bytes(*length)).ok()?..)
}

impl Call {
    /// The function's own name: the engine writes `outer/inner<` for a function in another one.
    fn name(&self) -> String {
        let own = self.function.split('/').rfind(|part| !matches!(*part, "" | "<")).unwrap_or_default();
        let own = own.strip_suffix('<').unwrap_or(own);
        if self.is_async && !own.is_empty() { format!("async {own}") } else { own.to_owned() }
    }
}
