//! OAuth clients that registered themselves. Everyone may register a client, so that their number is bounded.

use super::row::{get, json, to_json};
use crate::error::{Error, Result};
use crate::oauth::{RegisteredClient, generate_client_id};
use crate::store::database::Query;
use crate::store::handle::Store;

/// Registered clients. When they are as many, a new one replaces the oldest that no user has authorised.
const CLIENTS_MAX: u32 = 1_000;

const DELETE_OLDEST: &str = "DELETE FROM oauth_clients WHERE client_id IN (SELECT client_id FROM oauth_clients
    WHERE used_at IS NULL ORDER BY created_at, client_id LIMIT 1)
    AND (SELECT count(*) FROM oauth_clients) >= $1";

const INSERT: &str = "INSERT INTO oauth_clients (client_id, name, redirect_uris, created_at)
    SELECT $1, $2, $3, $4 WHERE (SELECT count(*) FROM oauth_clients) < $5";

impl Store {
    /// Registers a client. [`Error::TooMany`] when users have authorised all clients that can be registered.
    pub async fn register_client(&self, name: String, redirect_uris: Vec<String>) -> Result<RegisteredClient> {
        let client = RegisteredClient { client_id: generate_client_id(), name, redirect_uris };
        let uris = to_json(&client.redirect_uris)?;
        let insert = Query::new(INSERT).bind(client.client_id.as_str()).bind(client.name.as_str()).bind(uris);
        let insert = insert.bind(self.0.clock.now().as_milliseconds()).bind(CLIENTS_MAX);
        let inserted = self.write(move |connection| {
            Box::pin(async move {
                Query::new(DELETE_OLDEST).bind(CLIENTS_MAX).execute(&mut *connection).await?;
                Ok(insert.execute(connection).await?)
            })
        });
        match inserted.await? {
            0 => Err(Error::TooMany { what: "registered clients", limit: CLIENTS_MAX.into() }),
            _ => Ok(client),
        }
    }

    /// Returns a registered client.
    pub async fn registered_client(&self, client_id: &str) -> Result<Option<RegisteredClient>> {
        let query = Query::new("SELECT client_id, name, redirect_uris FROM oauth_clients WHERE client_id = $1");
        let row = query.bind(client_id).fetch_optional(self.readers()).await?;
        let read = |row| {
            let (client_id, name) = (get(&row, "client_id")?, get(&row, "name")?);
            Ok(RegisteredClient { client_id, name, redirect_uris: json(&row, "redirect_uris")? })
        };
        row.map(read).transpose()
    }

    /// Keeps that a user authorised a registered client.
    pub async fn note_client_use(&self, client_id: &str) -> Result<()> {
        let query = Query::new("UPDATE oauth_clients SET used_at = $2 WHERE client_id = $1").bind(client_id);
        let query = query.bind(self.0.clock.now().as_milliseconds());
        self.write(move |connection| Box::pin(async move { Ok(query.execute(connection).await?) })).await?;
        Ok(())
    }
}
