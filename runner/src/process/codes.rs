//! Compiled code that was verified once, kept open for every runner that will want it.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use registry::Digest;

use crate::Error;
use crate::cache::{Code, Compiled};

/// Files that stay open. A node has an image or two of each language.
const OPEN_MAX: usize = 64;

pub struct Codes {
    compiled: Compiled,
    open: Mutex<HashMap<Digest, Arc<Code>>>,
}

impl Codes {
    pub fn new(compiled: Compiled) -> Self {
        Self { compiled, open: Mutex::default() }
    }

    /// A descriptor of a component's code to give away, and the code's length.
    ///
    /// # Errors
    /// `Internal` when the component was never compiled here, or its code does not verify.
    pub fn descriptor(&self, component: &Digest) -> Result<(OwnedFd, u64), Error> {
        let code = self.verified(component)?;
        let descriptor = code.file.as_fd().try_clone_to_owned();
        Ok((descriptor.map_err(|error| Error::internal(error.to_string()))?, code.bytes))
    }

    /// One reads and verifies, and the others wait for it.
    fn verified(&self, component: &Digest) -> Result<Arc<Code>, Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = open.get(component) {
            return Ok(code.clone());
        }
        let code = Arc::new(self.compiled.open_verified(component)?);
        if open.len() >= OPEN_MAX {
            open.clear();
        }
        open.insert(*component, code.clone());
        Ok(code)
    }
}
