//! The code sent to a runner, so that each artifact is sent once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use registry::Digest;

use super::mailbox::{Mailbox, unsent};
use super::messages::{Blob, BundleNumber, ToRunner};
use crate::code_store::CodeStore;
use crate::{Code, Error};

/// Components that a runner keeps; each takes one descriptor there.
const COMPONENTS_MAX: usize = 64;
/// Bundles that a runner keeps.
const BUNDLES_MAX: usize = 1_024;
/// Size of all bundles together: eight of the largest.
const BUNDLE_BYTES_MAX: usize = 64 << 20;

/// Artifacts that a runner has. At a bound the runner forgets all of them, and those in use are sent again.
pub struct SentArtifacts {
    mailbox: Mailbox,
    codes: CodeStore,
    components: HashSet<Digest>,
    /// By the address of their bytes, which is unique while the bytes are held here.
    bundles: HashMap<usize, (BundleNumber, Arc<[u8]>)>,
    bundle_bytes: usize,
    bundles_sent: BundleNumber,
}

impl SentArtifacts {
    pub fn new(mailbox: Mailbox, codes: CodeStore) -> Self {
        let (components, bundles) = (HashSet::new(), HashMap::new());
        Self { mailbox, codes, components, bundles, bundle_bytes: 0, bundles_sent: 0 }
    }

    /// Sends the code of a run that the runner lacks. Returns the number of the bundle.
    ///
    /// # Errors
    /// When this node does not have the component's code.
    pub fn ensure(&mut self, code: &Code) -> Result<BundleNumber, Error> {
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
        let descriptor = code.descriptor().map_err(|error| Error::internal(error.to_string()))?;
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

    fn keep(&mut self, bytes: &Arc<[u8]>) -> Result<BundleNumber, Error> {
        let address = bytes.as_ptr().addr();
        // An empty slice may have the address of another allocation.
        if let Some((bundle, _)) = self.bundles.get(&address).filter(|(_, kept)| Arc::ptr_eq(kept, bytes)) {
            return Ok(*bundle);
        }
        if self.bundles.len() >= BUNDLES_MAX || self.bundle_bytes + bytes.len() > BUNDLE_BYTES_MAX {
            let components = self.components();
            self.forget()?;
            components.iter().try_for_each(|component| self.load(component))?;
        }
        self.bundles_sent += 1;
        self.bundle_bytes += bytes.len();
        self.bundles.insert(address, (self.bundles_sent, bytes.clone()));
        let message = ToRunner::Keep { bundle: self.bundles_sent, bytes: Blob(bytes.clone()) };
        self.mailbox.post(&message).map_err(unsent)?;
        Ok(self.bundles_sent)
    }

    fn forget(&mut self) -> Result<(), Error> {
        self.components.clear();
        self.bundles.clear();
        self.bundle_bytes = 0;
        self.mailbox.post(&ToRunner::Forget).map_err(unsent)
    }
}
