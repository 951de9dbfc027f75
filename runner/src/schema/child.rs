//! The schema worker process, `lathe internal schema`. Its socket is its standard input.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::compiled::CompiledSchema;
use super::thread::STACK_BYTES;
use super::wire::{Answer, Document, LENGTH_BYTES, REQUEST_BYTES_MAX, inputs};
use crate::compile::limit_self;
use crate::process::{close_inherited, confine, ignore_stops};
use crate::wiping::wipe_freed_memory;

const NAME: &CStr = c"lathe-schema";
/// CPU time in seconds. The server ends a call long before; this limit ends a process without a server.
const CPU_SECONDS_MAX: u64 = 600;
/// Memory for several copies of the largest request.
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Compiled schemas that are cached between calls.
const SCHEMAS_MAX: usize = 16;

/// Answers requests until the server closes the socket.
///
/// # Errors
/// When the process cannot confine itself, or receives an invalid request.
pub fn child_schema_main() -> io::Result<()> {
    // SAFETY: the program has just started and has opened no file.
    unsafe { close_inherited() }?;
    ignore_stops()?;
    // Inputs of several organisations pass through this process.
    wipe_freed_memory();
    limit_self(CPU_SECONDS_MAX, MEMORY_BYTES_MAX)?;
    // The stack of the first thread grows up to this limit.
    let (_, most) = getrlimit(Resource::RLIMIT_STACK)?;
    setrlimit(Resource::RLIMIT_STACK, (STACK_BYTES as u64).min(most), most)?;
    let socket = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    confine(NAME)?;
    serve(socket)
}

fn serve(mut socket: File) -> io::Result<()> {
    let mut schemas = Schemas::default();
    while let Some(schema) = frame(&mut socket)? {
        let inputs = frame(&mut socket)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let answer = schemas.answer(Document::from_bytes(schema), &inputs)?;
        let answer = postcard::to_stdvec(&answer).map_err(io::Error::other)?;
        let length = u32::try_from(answer.len()).map_err(io::Error::other)?;
        socket.write_all(&length.to_le_bytes())?;
        socket.write_all(&answer)?;
    }
    Ok(())
}

/// Reads a frame; `None` when the server has closed the socket.
fn frame(socket: &mut File) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; LENGTH_BYTES];
    if let Err(error) = socket.read_exact(&mut length) {
        return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(None) } else { Err(error) };
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > REQUEST_BYTES_MAX {
        return Err(io::Error::other(format!("a frame of {length} bytes exceeds the limit")));
    }
    let mut bytes = Vec::new();
    socket.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(Some(bytes)) }
}

/// The schemas of the last calls, newest last.
#[derive(Default)]
struct Schemas(Vec<(Document, CompiledSchema)>);

impl Schemas {
    fn answer(&mut self, document: Document, bytes: &[u8]) -> io::Result<Answer> {
        let inputs = inputs(bytes).map_err(io::Error::other)?;
        if let Some((_, schema)) = self.0.iter().find(|(known, _)| *known == document) {
            return Ok(Answer::of(schema, &inputs));
        }
        let value = document.value().map_err(io::Error::other)?;
        Ok(match CompiledSchema::new(&value) {
            Ok(schema) => {
                let answer = Answer::of(&schema, &inputs);
                self.keep(document, schema);
                answer
            }
            Err(problem) => Answer::Refused(problem),
        })
    }

    fn keep(&mut self, document: Document, compiled: CompiledSchema) {
        if self.0.len() >= SCHEMAS_MAX {
            self.0.remove(0);
        }
        self.0.push((document, compiled));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::wire::Call;

    #[test]
    fn schemas_are_cached_up_to_a_bound() {
        let mut schemas = Schemas::default();
        for maximum in (0..40).chain(0..40) {
            let document = Document::of(&json!({"maximum": maximum})).unwrap();
            let call = Call::new(document.clone(), &[json!(maximum), json!(maximum + 1)]).unwrap();
            let Answer::Violations(violations) = schemas.answer(document, &call.inputs).unwrap() else {
                panic!("violations")
            };
            assert_eq!(violations.len(), 1, "{violations:?}");
            assert!(schemas.0.len() <= SCHEMAS_MAX);
        }
        let wrong = Document::of(&json!({"type": 7})).unwrap();
        assert!(matches!(schemas.answer(wrong, &[0]).unwrap(), Answer::Refused(_)));
        assert!(schemas.answer(Document::of(&json!({})).unwrap(), &[9, 9]).is_err());
    }
}
