//! The child processes that compile components and check compiled code, and their limits.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use nix::sys::resource::{Resource, setrlimit};

use super::maker::Maker;
use crate::Error;
use crate::sandbox::child_end::CPU_SECONDS_GRACE;
use crate::sandbox::code::component_memory::{AUTHOR_MEMORY_BYTES_MAX, PLATFORM_MEMORY_BYTES_MAX};
use crate::sandbox::code::structure;
use crate::sandbox::memory_reuse;

/// CPU time for an image. The Python image takes about 12 s on a slow core, and 60 s in a debug build.
const IMAGE_CPU_SECONDS_MAX: u64 = 240;
/// Memory for an image. The Python image takes about 450 MB.
const IMAGE_MEMORY_BYTES_MAX: u64 = 2 << 30;
/// CPU time for an author's component. A tool of a megabyte takes less than two seconds.
const TOOL_CPU_SECONDS_MAX: u64 = 30;
/// Memory for an author's component.
const TOOL_MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Size of a component; images are smaller, and can grow.
pub const COMPONENT_BYTES_MAX: usize = 64 << 20;
/// The last byte of the child's output, after compiled code and after the reason of a refusal. Without it, the child has not ended
/// as it should.
pub(super) const COMPILED: u8 = b'c';
pub(super) const REFUSED: u8 = b'r';

/// Main of the child that checks compiled code, whose open file is its standard input.
///
/// # Errors
/// When this release cannot load the code on this machine.
pub fn child_check_main() -> io::Result<()> {
    limit_self(IMAGE_CPU_SECONDS_MAX, IMAGE_MEMORY_BYTES_MAX)?;
    let code = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    // SAFETY: the parent has verified the file, and its code is not executed.
    unsafe { memory_reuse::check(&code) }.map_err(io::Error::other)
}

/// Main of the child that compiles: reads a component from standard input, writes its code to standard output, or the reason of a
/// refusal, and a byte that tells which.
///
/// # Errors
/// When the limits cannot be set, or the pipes fail. A refusal is no error: it depends on the component alone.
pub fn child_compile_main(maker: Maker) -> io::Result<()> {
    match maker {
        Maker::Platform => limit_self(IMAGE_CPU_SECONDS_MAX, IMAGE_MEMORY_BYTES_MAX)?,
        Maker::Author => limit_self(TOOL_CPU_SECONDS_MAX, TOOL_MEMORY_BYTES_MAX)?,
    }
    let mut component = Vec::new();
    io::stdin().lock().take(COMPONENT_BYTES_MAX as u64 + 1).read_to_end(&mut component)?;
    let output = match compile_in_child(&component, maker) {
        Ok(code) => [code, vec![COMPILED]],
        Err(reason) => [reason.into_bytes(), vec![REFUSED]],
    };
    let mut stdout = io::stdout().lock();
    output.iter().try_for_each(|part| stdout.write_all(part))
}

fn compile_in_child(component: &[u8], maker: Maker) -> Result<Vec<u8>, String> {
    if component.len() > COMPONENT_BYTES_MAX {
        return Err(format!("the component has more than {COMPONENT_BYTES_MAX} bytes, which is the limit"));
    }
    structure::check(component).map_err(|error| error.to_string())?;
    precompile(component, maker).map_err(|error| error.to_string())
}

/// Compiles a trusted component in this process.
///
/// # Errors
/// When the component is invalid or uses a disabled feature.
pub fn precompile(component: &[u8], maker: Maker) -> Result<Vec<u8>, Error> {
    let memory_bytes_max = match maker {
        Maker::Platform => PLATFORM_MEMORY_BYTES_MAX,
        Maker::Author => AUTHOR_MEMORY_BYTES_MAX,
    };
    memory_reuse::compile(component, memory_bytes_max)
}

/// Limits CPU time and memory of this process and its children. The limit of CPU time ends it with `SIGXCPU`.
pub(crate) fn limit_self(cpu_seconds: u64, memory_bytes: u64) -> io::Result<()> {
    setrlimit(Resource::RLIMIT_CPU, cpu_seconds, cpu_seconds + CPU_SECONDS_GRACE)?;
    setrlimit(Resource::RLIMIT_DATA, memory_bytes, memory_bytes)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    Ok(())
}
