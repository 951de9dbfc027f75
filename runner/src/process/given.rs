//! The code that a runner has been given, so that it is sent once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use registry::Digest;

use super::frames::{FrameError, Mailbox};
use super::messages::{Blob, BundleNumber, ToRunner};
use crate::codes::Codes;
use crate::{Code, Error};

/// Components that a runner keeps; each takes one descriptor there.
const COMPONENTS_MAX: usize = 64;
/// Bundles that a runner keeps, in number and together: eight of the largest.
const BUNDLES_MAX: usize = 1_024;
const BUNDLE_BYTES_MAX: usize = 64 << 20;

/// At a bound everything is taken back: what is in use is given again at once, and nobody has to count uses.
pub struct Given {
    mailbox: Mailbox,
    codes: Codes,
    components: HashSet<Digest>,
    /// By the address of their bytes, which stays theirs for as long as they are held here.
    bundles: HashMap<usize, (BundleNumber, Arc<[u8]>)>,
    bundle_bytes: usize,
    bundles_sent: BundleNumber,
}

impl Given {
    pub fn new(mailbox: Mailbox, codes: Codes) -> Self {
        let (components, bundles) = (HashSet::new(), HashMap::new());
        Self { mailbox, codes, components, bundles, bundle_bytes: 0, bundles_sent: 0 }
    }

    /// Makes sure that the runner has all of a run's code, and says what its bundle is called there.
    ///
    /// # Errors
    /// When the component's code is not there.
    pub fn give(&mut self, code: &Code) -> Result<BundleNumber, Error> {
        self.load(&code.component)?;
        self.keep(&code.bundle)
    }

    /// The components that the runner has.
    pub fn components(&self) -> Vec<Digest> {
        self.components.iter().copied().collect()
    }

    /// Has the runner load a component before a run of it comes.
    ///
    /// # Errors
    /// When the component's code is not there.
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
        self.mailbox.post_with(&message, Some(descriptor)).map_err(FrameError::unsent)
    }

    #[cfg(test)]
    pub const fn bundle_bytes(&self) -> usize {
        self.bundle_bytes
    }

    fn keep(&mut self, bytes: &Arc<[u8]>) -> Result<BundleNumber, Error> {
        let address = bytes.as_ptr().addr();
        // Empty ones may share an address with anything.
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
        self.mailbox.post(&message).map_err(FrameError::unsent)?;
        Ok(self.bundles_sent)
    }

    fn forget(&mut self) -> Result<(), Error> {
        self.components.clear();
        self.bundles.clear();
        self.bundle_bytes = 0;
        self.mailbox.post(&ToRunner::Forget).map_err(FrameError::unsent)
    }
}
