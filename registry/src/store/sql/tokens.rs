//! Signing in with an API key, and checking the tokens that this gives.

use subtle::{Choice, ConstantTimeEq};

use super::dialect::Connection;
use super::keys::api_key_hash;
use super::row::{get, json, parsed, timestamp};
use crate::account::{OrganizationId, UserId};
use crate::clock::Timestamp;
use crate::credentials::{IssuedToken, SignIn, SignInRefused, SignedIn};
use crate::error::Result;
use crate::principal::Principal;
use crate::random;
use crate::secrets::{KeyRing, keyed_hash};
use crate::store::Store;
use crate::store::token_cache::Checked;
use crate::variables::SecretValue;

const FIND_KEY: &str = "SELECT user_id, key_hash FROM api_keys
    WHERE organization = $1 AND api_key_id = $2 AND revoked_at IS NULL";

const FIND_TOKEN: &str = "SELECT t.user_id, t.expires_at, m.permissions FROM tokens t
    JOIN members m ON m.organization = t.organization AND m.user_id = t.user_id
    JOIN api_keys k ON k.api_key_id = t.api_key_id AND k.revoked_at IS NULL
    WHERE t.token_hash = $1 AND t.organization = $2";

impl Store {
    /// Exchanges an API key for a token of its user.
    pub async fn sign_in(&self, sign_in: SignIn<'_>) -> Result<SignedIn> {
        if !self.organization_exists(sign_in.organization).await? {
            return Ok(SignedIn::Refused(SignInRefused::UnknownOrganization));
        }
        let Some(user) = self.key_owner(sign_in).await? else {
            return Ok(SignedIn::Refused(SignInRefused::BadCredentials));
        };
        let issued = self.issue_token(sign_in.organization.clone(), user, sign_in.api_key_id.to_owned()).await?;
        Ok(SignedIn::Issued(issued))
    }

    /// The user behind a token of this organisation, if it is valid. Checked against the database once a second.
    pub async fn authenticate(&self, organization: &OrganizationId, id_token: &str) -> Result<Option<Principal>> {
        let token_hash = token_hash(&self.0.keys, id_token);
        let checked = match self.0.tokens.get(&token_hash) {
            Some(checked) => Some(checked),
            None => self.look_up(organization, token_hash).await?,
        };
        let now = self.0.clock.now();
        let valid = checked.filter(|checked| checked.expires_at > now);
        let own = valid.filter(|checked| checked.principal.organization == *organization);
        Ok(own.map(|checked| checked.principal))
    }

    /// Takes the same time whether the key exists or not.
    async fn key_owner(&self, sign_in: SignIn<'_>) -> Result<Option<UserId>> {
        let query = sqlx::query(FIND_KEY).bind(sign_in.organization.as_str()).bind(sign_in.api_key_id);
        let row = query.fetch_optional(self.readers()).await?;
        let stored: Vec<u8> = row.as_ref().map_or_else(|| Ok(vec![0; 32]), |row| get(row, "key_hash"))?;
        let owner = row.as_ref().map(|row| parsed::<UserId>(row, "user_id")).transpose()?;
        let presented = api_key_hash(&self.0.keys, sign_in.api_key);
        let same_user = owner.as_ref().is_some_and(|owner| owner.as_str() == sign_in.user);
        let accepted = stored.ct_eq(&presented) & Choice::from(u8::from(same_user));
        Ok(owner.filter(|_| accepted.into()))
    }

    async fn issue_token(&self, organization: OrganizationId, user: UserId, api_key_id: String) -> Result<IssuedToken> {
        let text = random::base62(43);
        let now = self.0.clock.now();
        let expires_at = now.after(self.0.config.token_lifetime);
        let hash = token_hash(&self.0.keys, &text);
        self.write(move |connection| {
            Box::pin(async move {
                forget_expired(connection, now).await?;
                let insert =
                    "INSERT INTO tokens (token_hash, organization, user_id, api_key_id, created_at, expires_at)
                    VALUES ($1, $2, $3, $4, $5, $6)";
                let query = sqlx::query(insert).bind(hash.to_vec()).bind(organization.as_str()).bind(user.as_str());
                let query = query.bind(api_key_id).bind(now.as_milliseconds()).bind(expires_at.as_milliseconds());
                query.execute(connection).await?;
                Ok(())
            })
        })
        .await?;
        Ok(IssuedToken { id_token: SecretValue::new(text), expires_at })
    }

    async fn look_up(&self, organization: &OrganizationId, token_hash: [u8; 32]) -> Result<Option<Checked>> {
        let query = sqlx::query(FIND_TOKEN).bind(token_hash.to_vec()).bind(organization.as_str());
        let Some(row) = query.fetch_optional(self.readers()).await? else {
            return Ok(None);
        };
        let user = parsed(&row, "user_id")?;
        let permissions = json(&row, "permissions")?;
        let principal = Principal { organization: organization.clone(), user, permissions };
        let checked = Checked { principal, expires_at: timestamp(&row, "expires_at")? };
        self.0.tokens.put(token_hash, checked.clone());
        Ok(Some(checked))
    }
}

fn token_hash(keys: &KeyRing, token: &str) -> [u8; 32] {
    keyed_hash(&keys.derive("tokens"), token.as_bytes())
}

/// Drops tokens that nobody can use any more, so that the table stays as small as the number of users.
async fn forget_expired(connection: &mut Connection, now: Timestamp) -> Result<()> {
    sqlx::query("DELETE FROM tokens WHERE expires_at <= $1").bind(now.as_milliseconds()).execute(connection).await?;
    Ok(())
}
