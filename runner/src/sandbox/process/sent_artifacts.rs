//! The code sent to a runner, so that each artifact is sent once.

use std::collections::HashSet;

use registry::Digest;

use super::mailbox::{Mailbox, unsent};
use super::messages::{Blob, ToRunner};
use crate::sandbox::code::CodeStore;
use crate::{Code, CodeBundle, Error};

/// Components that a runner process keeps; each takes one descriptor there.
const COMPONENTS_MAX: usize = 64;
/// Bundles that a runner process keeps.
const BUNDLES_MAX: usize = 1_024;
/// Bytes of all bundles of a runner process: two of the largest. Most have some kilobytes.
const BUNDLE_BYTES_MAX: usize = 64 << 20;

/// Artifacts that a runner has. At a bound the runner forgets all of them, and those in use are sent again.
pub struct SentArtifacts {
    mailbox: Mailbox,
    codes: CodeStore,
    components: HashSet<Digest>,
    bundles: HashSet<Digest>,
    bundle_bytes: usize,
}

impl SentArtifacts {
    pub fn new(mailbox: Mailbox, codes: CodeStore) -> Self {
        Self { mailbox, codes, components: HashSet::new(), bundles: HashSet::new(), bundle_bytes: 0 }
    }

    /// Sends the code of a run that the runner lacks.
    ///
    /// # Errors
    /// When this node does not have the component's code.
    pub fn ensure(&mut self, code: &Code) -> Result<(), Error> {
        self.load(&code.component)?;
        self.keep(&code.bundle)
    }

    /// Returns the components that the runner has.
    pub fn components(&self) -> Vec<Digest> {
        self.components.iter().copied().collect()
    }

    /// Sends a component to the runner, if it was not sent before.
    ///
    /// # Errors
    /// When this node does not have the component's code.
    pub fn load(&mut self, component: &Digest) -> Result<(), Error> {
        if self.components.contains(component) {
            return Ok(());
        }
        let code = self.codes.get(component)?;
        let descriptor = code.clone_descriptor().map_err(|error| Error::internal(error.to_string()))?;
        if self.components.len() >= COMPONENTS_MAX {
            self.forget()?;
        }
        self.components.insert(*component);
        let message = ToRunner::Load { component: *component, bytes: code.bytes() };
        self.mailbox.post_with(&message, Some(descriptor)).map_err(unsent)
    }

    #[cfg(test)]
    pub const fn bundle_bytes(&self) -> usize {
        self.bundle_bytes
    }

    fn keep(&mut self, bundle: &CodeBundle) -> Result<(), Error> {
        if self.bundles.contains(bundle.digest()) {
            return Ok(());
        }
        let bytes = bundle.bytes();
        if self.bundles.len() >= BUNDLES_MAX || self.bundle_bytes + bytes.len() > BUNDLE_BYTES_MAX {
            let components = self.components();
            self.forget()?;
            components.iter().try_for_each(|component| self.load(component))?;
        }
        self.bundle_bytes += bytes.len();
        self.bundles.insert(*bundle.digest());
        self.mailbox.post(&ToRunner::Keep { bundle: bundle.clone(), bytes: Blob(bytes.clone()) }).map_err(unsent)
    }

    fn forget(&mut self) -> Result<(), Error> {
        self.components.clear();
        self.bundles.clear();
        self.bundle_bytes = 0;
        self.mailbox.post(&ToRunner::Forget).map_err(unsent)
    }
}
