//! Attestations: stored with their version, read to verify it.

use super::handle::Versions;
use crate::error::{Error, Result};
use crate::kit::account::OrganizationId;
use crate::kit::invalid_value::InvalidValue;
use crate::kit::public_key::PublicKey;
use crate::secrets::SigningKey;
use crate::store::database::{Connection, Query};
use crate::store::sql::kit::row::{get, read_timestamp};
use crate::versions::{Attestation, SigningKeyInUse, ToolVersion};

const INSERT_KEY: &str = "INSERT INTO signing_keys (organization, public_key, created_at) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING";

const INSERT: &str = "INSERT INTO attestations (organization, version_id, public_key, provenance, sbom)
    VALUES ($1, $2, $3, $4, $5)";

const GET: &str = "SELECT public_key, provenance, sbom FROM attestations WHERE organization = $1 AND version_id = $2";

/// An organisation has one key, unless its data key changes.
const KEYS: &str = "SELECT public_key, created_at FROM signing_keys WHERE organization = $1
    ORDER BY created_at, public_key LIMIT 100";

impl Versions {
    /// Returns the key that signs the versions of the organisation.
    pub async fn signing_key(&self, organization: &OrganizationId) -> Result<SigningKey> {
        self.store.access().get_data_key(organization).await?.signing_key()
    }

    /// Lists the keys that have signed versions of the organisation, oldest first.
    pub async fn signing_keys(&self, organization: &OrganizationId) -> Result<Vec<SigningKeyInUse>> {
        let rows = Query::new(KEYS).bind(organization.as_str()).fetch_all(self.store.readers()).await?;
        let read = |row| Ok(SigningKeyInUse { key: read_public_key(row)?, since: read_timestamp(row, "created_at")? });
        rows.iter().map(read).collect()
    }

    /// Returns the attestation of a version.
    pub async fn attestation(&self, of: &ToolVersion) -> Result<Option<Attestation>> {
        let query = Query::new(GET).bind(of.organization.as_str()).bind(of.id.as_str());
        let Some(row) = query.fetch_optional(self.store.readers()).await? else { return Ok(None) };
        Ok(Some(Attestation {
            version: of.version,
            signed_by: read_public_key(&row)?,
            provenance: get(&row, "provenance")?,
            sbom: get(&row, "sbom")?,
        }))
    }
}

/// Stores the attestation of a new version. [`Error::LeaseLost`] when it names another number than that of the version: only a
/// publication that has lost its lease can predict a wrong number.
pub(super) async fn insert(connection: &mut Connection, of: &ToolVersion, attestation: &Attestation) -> Result<()> {
    if attestation.version != of.version {
        return Err(Error::LeaseLost);
    }
    let (organization, key) = (of.organization.as_str(), attestation.signed_by.as_bytes().as_slice());
    let query = Query::new(INSERT_KEY).bind(organization).bind(key).bind(of.created_at.as_milliseconds());
    query.execute(&mut *connection).await?;
    let query = Query::new(INSERT).bind(organization).bind(of.id.as_str()).bind(key);
    query.bind(attestation.provenance.as_str()).bind(attestation.sbom.as_str()).execute(connection).await?;
    Ok(())
}

fn read_public_key(row: &crate::store::database::Row) -> Result<PublicKey> {
    let damaged = |error: InvalidValue| Error::Corrupt { what: "signing key", detail: error.to_string() };
    PublicKey::from_bytes(get(row, "public_key")?).map_err(damaged)
}
