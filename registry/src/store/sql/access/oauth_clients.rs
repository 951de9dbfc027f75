//! OAuth clients that registered themselves. Everyone may register a client, so that those without an authorisation are bounded for
//! each address, and those with one for each user and organisation. None crowds out a client of others.

use super::handle::Access;
use crate::access::{Principal, RegisteredClient, generate_client_id};
use crate::error::Result;
use crate::store::database::{Connection, Query};
use crate::store::sql::kit::row::{get, read_json, to_json};

/// Registered clients that no user has authorised. When they are as many, a new one replaces the oldest of the address that has
/// most of them.
const UNUSED_MAX: u32 = 1_000;
/// Those of one address: more than the machines of an office begin in a day. A new one replaces the oldest.
const UNUSED_PER_ADDRESS_MAX: u32 = 100;
/// Registered clients that a user has authorised: those of a few machines. A new one replaces the one that was authorised the
/// longest time ago. Its authorisations stay.
const USED_PER_USER_MAX: u32 = 20;
/// Those of an organisation. A new one replaces one of the user who has most of them.
const USED_PER_ORGANIZATION_MAX: u32 = 100;

const INSERT: &str =
    "INSERT INTO oauth_clients (client_id, name, redirect_uris, address, created_at) VALUES ($1, $2, $3, $4, $5)";

/// Keeps the newest of an address.
const DELETE_OF_ADDRESS: &str = "DELETE FROM oauth_clients WHERE client_id IN (SELECT client_id FROM oauth_clients
    WHERE address = $1 AND client_id NOT IN (SELECT client_id FROM oauth_client_uses)
    ORDER BY created_at DESC, client_id LIMIT 1000 OFFSET $2)";

const DELETE_OF_CROWD: &str = "DELETE FROM oauth_clients WHERE client_id IN (SELECT client_id FROM oauth_clients
    WHERE client_id NOT IN (SELECT client_id FROM oauth_client_uses) AND address = (SELECT address FROM oauth_clients
        WHERE client_id NOT IN (SELECT client_id FROM oauth_client_uses)
        GROUP BY address ORDER BY count(*) DESC, address LIMIT 1)
    ORDER BY created_at, client_id LIMIT 1)
    AND (SELECT count(*) FROM oauth_clients WHERE client_id NOT IN (SELECT client_id FROM oauth_client_uses)) >= $1";

/// Only of a client that is registered.
const USE: &str = "INSERT INTO oauth_client_uses (client_id, organization, account, used_at)
    SELECT client_id, $2, $3, $4 FROM oauth_clients WHERE client_id = $1
    ON CONFLICT (organization, account, client_id) DO UPDATE SET used_at = excluded.used_at";

const OLDEST_OF_USER: &str = "DELETE FROM oauth_client_uses WHERE organization = $1 AND account = $2
    AND client_id IN (SELECT client_id FROM oauth_client_uses WHERE organization = $1 AND account = $2
        ORDER BY used_at DESC, client_id LIMIT 1000 OFFSET $3)
    RETURNING client_id";

const OLDEST_OF_CROWD: &str = "DELETE FROM oauth_client_uses WHERE organization = $1
    AND (SELECT count(*) FROM oauth_client_uses WHERE organization = $1) > $2
    AND (account, client_id) IN (SELECT account, client_id FROM oauth_client_uses WHERE organization = $1
        AND account = (SELECT account FROM oauth_client_uses WHERE organization = $1
            GROUP BY account ORDER BY count(*) DESC, min(used_at), account LIMIT 1)
        ORDER BY used_at, client_id LIMIT 1)
    RETURNING client_id";

const DELETE_WITHOUT_USE: &str = "DELETE FROM oauth_clients WHERE client_id = $1
    AND client_id NOT IN (SELECT client_id FROM oauth_client_uses)";

impl Access {
    /// Registers a client. `address` is the part of the address that stands for one client.
    pub async fn register_client(
        &self,
        name: String,
        redirect_uris: Vec<String>,
        address: String,
    ) -> Result<RegisteredClient> {
        let client = RegisteredClient { client_id: generate_client_id(), name, redirect_uris };
        let uris = to_json(&client.redirect_uris)?;
        let insert = Query::new(INSERT).bind(client.client_id.as_str()).bind(client.name.as_str()).bind(uris);
        let insert = insert.bind(address.as_str()).bind(self.store.0.clock.now().as_milliseconds());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let own = Query::new(DELETE_OF_ADDRESS).bind(address).bind(UNUSED_PER_ADDRESS_MAX - 1);
                    own.execute(&mut *connection).await?;
                    Query::new(DELETE_OF_CROWD).bind(UNUSED_MAX).execute(&mut *connection).await?;
                    Ok(insert.execute(connection).await?)
                })
            })
            .await?;
        Ok(client)
    }

    /// Returns a registered client.
    pub async fn registered_client(&self, client_id: &str) -> Result<Option<RegisteredClient>> {
        let query = Query::new("SELECT client_id, name, redirect_uris FROM oauth_clients WHERE client_id = $1");
        let row = query.bind(client_id).fetch_optional(self.store.readers()).await?;
        let read = |row| {
            let (client_id, name) = (get(&row, "client_id")?, get(&row, "name")?);
            Ok(RegisteredClient { client_id, name, redirect_uris: read_json(&row, "redirect_uris")? })
        };
        row.map(read).transpose()
    }

    /// Keeps that a user authorised a registered client. Beyond the bounds of the user and the organisation, earlier ones of theirs are
    /// forgotten.
    pub async fn note_client_use(&self, principal: &Principal, client_id: &str) -> Result<()> {
        let (organization, account) = (principal.organization.to_string(), principal.account.as_str().to_owned());
        let used = Query::new(USE).bind(client_id).bind(organization.as_str()).bind(account.as_str());
        let used = used.bind(self.store.0.clock.now().as_milliseconds());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    used.execute(&mut *connection).await?;
                    let of_user = Query::new(OLDEST_OF_USER).bind(organization.as_str()).bind(account);
                    forget(&mut *connection, of_user.bind(USED_PER_USER_MAX)).await?;
                    let of_crowd = Query::new(OLDEST_OF_CROWD).bind(organization).bind(USED_PER_ORGANIZATION_MAX);
                    forget(connection, of_crowd).await
                })
            })
            .await
    }
}

/// Deletes uses, and the clients that have no other one.
async fn forget(connection: &mut Connection, uses: Query) -> Result<()> {
    for row in uses.fetch_all(&mut *connection).await? {
        let client_id: String = get(&row, "client_id")?;
        Query::new(DELETE_WITHOUT_USE).bind(client_id).execute(&mut *connection).await?;
    }
    Ok(())
}
