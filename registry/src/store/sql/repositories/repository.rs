//! The git repositories that servers share: their contents, and the lease for a change, by the database's clock.

use std::time::Duration;

use super::handle::Repositories;
use crate::error::{Error, Result};
use crate::kit::account::OrganizationId;
use crate::repositories::{DamagedPack, RepositoryContents, RepositoryGeneration, RepositoryLease};
use crate::store::database::Query;
use crate::store::sql::kit::row::{get, parse_column, read_json, to_json};

const GENERATION: &str = "SELECT generation FROM repositories WHERE organization = $1";

const READ: &str = "SELECT generation, contents FROM repositories WHERE organization = $1 AND generation > 0";

/// Takes the lease of a repository when it is free or has expired. The first lease comes before the first contents.
const ACQUIRE: &str = "INSERT INTO repositories (organization, generation, contents, fence, holder, expires_at)
        VALUES ($1, 0, '{}', 1, $2, {now} + $3)
    ON CONFLICT (organization) DO UPDATE SET fence = repositories.fence + 1, holder = excluded.holder, expires_at = excluded.expires_at
        WHERE repositories.holder IS NULL OR repositories.expires_at <= {now}
    RETURNING fence";

const RENEW: &str = "UPDATE repositories SET expires_at = {now} + $3
    WHERE organization = $1 AND fence = $2 AND holder IS NOT NULL";

const RELEASE: &str = "UPDATE repositories SET holder = NULL WHERE organization = $1 AND fence = $2";

const RECORD: &str = "UPDATE repositories SET generation = generation + 1, contents = $4
    WHERE organization = $1 AND fence = $2 AND generation = $3 AND holder IS NOT NULL";

/// Whether any repository has contents.
const ANY: &str = "SELECT 1 AS found FROM repositories WHERE generation > 0 LIMIT 1";

const NOTE_DAMAGE: &str = "INSERT INTO damaged_packs (organization, pack) VALUES ($1, $2) ON CONFLICT DO NOTHING";

const DAMAGED: &str = "SELECT organization, pack FROM damaged_packs ORDER BY organization, pack LIMIT $1";

const CLEAR_DAMAGE: &str = "DELETE FROM damaged_packs WHERE organization = $1 AND pack = $2";

impl Repositories {
    /// Whether the database has repositories that servers share, whose packs are in a bucket.
    pub async fn has_shared_repositories(&self) -> Result<bool> {
        Ok(self.store.is_shared() && Query::new(ANY).fetch_optional(self.store.readers()).await?.is_some())
    }

    /// Notes that the bucket lacks a pack, or has another object in its place.
    pub(crate) async fn note_damaged_pack(&self, damaged: &DamagedPack) -> Result<()> {
        self.write_damage(NOTE_DAMAGE, damaged).await
    }

    /// Returns up to `limit` packs that were noted.
    pub(crate) async fn damaged_packs(&self, limit: i64) -> Result<Vec<DamagedPack>> {
        let rows = Query::new(DAMAGED).bind(limit).fetch_all(self.store.readers()).await?;
        let read =
            |row| Ok(DamagedPack { organization: parse_column(row, "organization")?, object: get(row, "pack")? });
        rows.iter().map(read).collect()
    }

    /// Removes the note.
    pub(crate) async fn clear_damaged_pack(&self, damaged: &DamagedPack) -> Result<()> {
        self.write_damage(CLEAR_DAMAGE, damaged).await
    }

    async fn write_damage(&self, statement: &'static str, damaged: &DamagedPack) -> Result<()> {
        let query = Query::new(statement).bind(damaged.organization.as_str()).bind(damaged.object.as_str());
        self.store
            .write(move |connection| Box::pin(async move { Ok(query.execute(connection).await?) }))
            .await
            .map(drop)
    }

    /// Returns the number of the present generation of a repository, and 0 for one without contents.
    pub async fn repository_generation(&self, organization: &OrganizationId) -> Result<i64> {
        let query = Query::new(GENERATION).bind(organization.as_str());
        let row = query.fetch_optional(self.store.readers()).await?;
        row.map_or(Ok(0), |row| get(&row, "generation"))
    }

    /// Returns the present contents of a repository, if it has any.
    pub async fn repository(&self, organization: &OrganizationId) -> Result<Option<RepositoryGeneration>> {
        let row = Query::new(READ).bind(organization.as_str()).fetch_optional(self.store.readers()).await?;
        let read =
            |row| Ok(RepositoryGeneration { number: get(&row, "generation")?, contents: read_json(&row, "contents")? });
        row.map(read).transpose()
    }

    /// Takes the lease of a repository for `time_to_live`. `None` while another change holds it.
    pub async fn acquire_repository(
        &self,
        organization: &OrganizationId,
        time_to_live: Duration,
    ) -> Result<Option<RepositoryLease>> {
        let (organization, boot) = (organization.clone(), self.store.0.boot.clone());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let query = Query::new(ACQUIRE).bind(organization.as_str()).bind(boot.as_str());
                    let taken = query.bind(to_milliseconds(time_to_live)).fetch_optional(connection).await?;
                    taken.map(|row| Ok(RepositoryLease { organization, fence: get(&row, "fence")? })).transpose()
                })
            })
            .await
    }

    /// Moves the expiry to `time_to_live` from now. [`Error::LeaseLost`] when the lease was taken over.
    pub async fn renew_repository(&self, lease: &RepositoryLease, time_to_live: Duration) -> Result<()> {
        self.change(bind_lease(RENEW, lease).bind(to_milliseconds(time_to_live))).await
    }

    /// Ends a lease, unless it was taken over.
    pub async fn release_repository(&self, lease: &RepositoryLease) -> Result<()> {
        self.change(bind_lease(RELEASE, lease)).await
    }

    /// Replaces the contents of the generation `number`, and returns the number of the next one.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when the lease was taken over, or the repository has another generation.
    pub async fn record_repository(
        &self,
        lease: &RepositoryLease,
        number: i64,
        contents: &RepositoryContents,
    ) -> Result<i64> {
        self.change(bind_lease(RECORD, lease).bind(number).bind(to_json(contents)?)).await?;
        Ok(number + 1)
    }

    async fn change(&self, query: Query) -> Result<()> {
        let changed = self.store.write(move |connection| Box::pin(async move { Ok(query.execute(connection).await?) }));
        if changed.await? == 0 { Err(Error::LeaseLost) } else { Ok(()) }
    }
}

/// Binds the organisation and the fence of a lease as `$1` and `$2`.
fn bind_lease(statement: &'static str, lease: &RepositoryLease) -> Query {
    Query::new(statement).bind(lease.organization.as_str()).bind(lease.fence)
}

fn to_milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 2)
}
