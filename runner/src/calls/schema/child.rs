//! The schema worker process, `lathe internal schema`. Its socket is its standard input.

use std::ffi::CStr;
use std::io;
use std::os::fd::AsFd;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::UnixStream;
use tokio::runtime;

use super::compiled::CompiledSchema;
use super::thread::STACK_BYTES;
use super::wire::{Document, MatchResponse, REQUEST_BYTES_MAX, read_inputs};
use crate::sandbox::compile::limit_self;
use crate::sandbox::frames::{FrameError, FramedSocket};
use crate::sandbox::process::{close_inherited, confine, ignore_stops};
use crate::sandbox::wiping::wipe_freed_memory;

const NAME: &CStr = c"lathe-schema";
/// CPU time in seconds. The server ends a call long before; this limit ends a process without a server.
const CPU_SECONDS_MAX: u64 = 600;
/// Memory for several copies of the largest request.
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Compiled schemas that are cached between calls.
const SCHEMAS_MAX: usize = 16;

/// Handles requests until the server closes the socket.
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
    let socket = std::os::unix::net::UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
    confine(NAME)?;
    // On the first thread, which has the large stack.
    runtime.block_on(async { serve(UnixStream::from_std(socket)?).await }).map_err(io::Error::other)
}

async fn serve(socket: UnixStream) -> Result<(), FrameError> {
    let (mut socket, mut schemas) = (FramedSocket::new(socket), Schemas::default());
    while let Some(schema) = socket.receive(REQUEST_BYTES_MAX).await? {
        let Some(inputs) = socket.receive(REQUEST_BYTES_MAX).await? else { return Err(FrameError::Cut) };
        let response = schemas.respond(Document::from_bytes(schema), &inputs)?;
        socket.send(&postcard::to_stdvec(&response)?).await?;
    }
    Ok(())
}

/// The schemas of the last calls, newest last.
#[derive(Default)]
struct Schemas(Vec<(Document, CompiledSchema)>);

impl Schemas {
    fn respond(&mut self, document: Document, bytes: &[u8]) -> Result<MatchResponse, postcard::Error> {
        let inputs = read_inputs(bytes)?;
        if let Some((_, schema)) = self.0.iter().find(|(known, _)| *known == document) {
            return Ok(schema.find_violations(&inputs).into());
        }
        Ok(match CompiledSchema::new(&document.read_value()?) {
            Ok(schema) => {
                let response = schema.find_violations(&inputs).into();
                self.keep(document, schema);
                response
            }
            Err(problem) => MatchResponse::Refused(problem),
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
    use crate::calls::schema::wire::Call;

    #[test]
    fn schemas_are_cached_up_to_a_bound() {
        let mut schemas = Schemas::default();
        for maximum in (0..40).chain(0..40) {
            let document = Document::of(&json!({"maximum": maximum})).unwrap();
            let call = Call::new(document.clone(), &[json!(maximum), json!(maximum + 1)]).unwrap();
            let MatchResponse::Violations(violations) = schemas.respond(document, &call.inputs).unwrap() else {
                panic!("violations")
            };
            assert_eq!(violations.len(), 1, "{violations:?}");
            assert!(schemas.0.len() <= SCHEMAS_MAX);
        }
        let wrong = Document::of(&json!({"type": 7})).unwrap();
        assert!(matches!(schemas.respond(wrong, &[0]).unwrap(), MatchResponse::Refused(_)));
        assert!(schemas.respond(Document::of(&json!({})).unwrap(), &[9, 9]).is_err());
    }
}
