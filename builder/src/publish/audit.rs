//! The check of published versions at the start of a server: a bill of materials that names other packages than the version
//! contains is logged. Versions never change, so the next step is to publish again.

use std::collections::HashMap;

use registry::BillOfMaterials;

use super::builder::Builder;
use crate::attestation::{self, Package};
use crate::error::Error;
use crate::package_audit::PackageAudit;

/// Packages whose result is remembered, so that the packages of many versions are read once.
const REMEMBERED_MAX: usize = 10_000;

impl Builder {
    /// Checks all published versions, as far as the caches still have their packages, and logs those whose bill of materials is
    /// wrong.
    pub async fn audit_packages(&self) {
        if let Err(error) = self.audit().await {
            tracing::warn!(%error, "the packages of published versions could not be checked");
        }
    }

    async fn audit(&self) -> Result<(), Error> {
        let (mut last, mut known) = (None, Known::default());
        loop {
            let bills = self.store.bills_of_materials(last.as_ref()).await?;
            let Some(end) = bills.last() else { return Ok(()) };
            last = Some((end.organization.clone(), end.version.clone()));
            for bill in &bills {
                known.check(bill, &self.audit).await?;
            }
        }
    }
}

/// The results of the packages that were checked, by hash and package URL.
#[derive(Default)]
struct Known(HashMap<(String, String), Option<String>>);

impl Known {
    async fn check(&mut self, bill: &BillOfMaterials, audit: &PackageAudit) -> Result<(), Error> {
        for package in attestation::packages(&bill.sbom) {
            let Some(other) = self.other_package(&package, audit).await? else { continue };
            let (organization, tool, version) = (&bill.organization, &bill.tool, &bill.number);
            tracing::warn!(
                %organization,
                %tool,
                %version,
                package = package.url(),
                problem = other,
                "the bill of materials of a published version names a package that the version does not contain; publish again \
                 with a right lock file, and deprecate the version"
            );
        }
        Ok(())
    }

    async fn other_package(&mut self, package: &Package, audit: &PackageAudit) -> Result<Option<String>, Error> {
        let Some(hash) = &package.hash else { return Ok(None) };
        let key = (hash.hex.clone(), package.url());
        if let Some(known) = self.0.get(&key) {
            return Ok(known.clone());
        }
        if self.0.len() >= REMEMBERED_MAX {
            self.0.clear();
        }
        let other = audit.other_package(package).await?;
        self.0.insert(key, other.clone());
        Ok(other)
    }
}
