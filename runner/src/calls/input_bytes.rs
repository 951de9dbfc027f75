//! The bytes of the inputs of admitted calls, whether their runs wait or go on. Without this bound, a queue of two hundred runs would be a
//! bound of two hundred megabytes.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use registry::{AdmissionBounds, OrganizationId, QueueFull};

use crate::error::InputsFull;

/// The bytes that are held. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct InputBytes {
    bytes_max: usize,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    bytes: usize,
    organizations: HashMap<OrganizationId, usize>,
}

/// The bytes of one call, released on drop.
#[derive(Debug)]
pub(crate) struct HeldBytes {
    from: InputBytes,
    organization: OrganizationId,
    bytes: usize,
}

impl InputBytes {
    /// A bound of all organisations together. Each may have three quarters of it.
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, held: Arc::default() }
    }

    /// Holds the bytes of a call. A call is admitted whatever its size if its organisation has no other, and the server none.
    ///
    /// # Errors
    /// The bound that would be exceeded.
    pub fn hold(&self, organization: &OrganizationId, bytes: usize) -> Result<HeldBytes, InputsFull> {
        let mut held = self.held.lock();
        let own = held.organizations.get(organization).copied().unwrap_or_default();
        for (bound, present, bytes_max) in [
            (QueueFull::Process, held.bytes, self.bytes_max),
            (QueueFull::Organization, own, AdmissionBounds::compute_share(self.bytes_max)),
        ] {
            if present > 0 && present.saturating_add(bytes) > bytes_max {
                return Err(InputsFull { bound, bytes_max });
            }
        }
        held.bytes += bytes;
        *held.organizations.entry(organization.clone()).or_default() += bytes;
        Ok(HeldBytes { from: self.clone(), organization: organization.clone(), bytes })
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        let Self { from, organization, bytes } = self;
        let mut held = from.held.lock();
        held.bytes -= *bytes;
        if let Some(own) = held.organizations.get_mut(organization) {
            *own -= *bytes;
            if *own == 0 {
                held.organizations.remove(organization);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn organization(name: &str) -> OrganizationId {
        OrganizationId::parse(name).unwrap()
    }

    #[test]
    fn an_organization_and_the_server_have_bounds_in_bytes() {
        let (inputs, acme, other) = (InputBytes::new(100), organization("acme"), organization("other"));
        let refused = |organization, bytes| inputs.hold(organization, bytes).map(drop).err();
        let first = inputs.hold(&acme, 50).unwrap();
        let second = inputs.hold(&acme, 25).unwrap();
        assert_eq!(refused(&acme, 1), Some(InputsFull { bound: QueueFull::Organization, bytes_max: 75 }));
        let third = inputs.hold(&other, 25).unwrap();
        assert_eq!(refused(&other, 1), Some(InputsFull { bound: QueueFull::Process, bytes_max: 100 }));
        drop(second);
        assert_eq!(refused(&acme, 25), None);
        drop((first, third));
        assert!(inputs.held.lock().organizations.is_empty() && inputs.held.lock().bytes == 0);
    }

    #[test]
    fn a_single_call_is_admitted_whatever_its_size() {
        let (inputs, acme) = (InputBytes::new(10), organization("acme"));
        let large = inputs.hold(&acme, 1_000).unwrap();
        assert!(inputs.hold(&organization("other"), 1).is_err());
        drop(large);
        assert!(inputs.hold(&organization("other"), 1).is_ok());
    }
}
