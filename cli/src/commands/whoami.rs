//! `lathe whoami`: the logged-in user with their permissions.

use api::wire::Me;

use super::role::grant_text;
use crate::client::Credentials;
use crate::failure::Outcome;
use crate::home::Home;
use crate::output::{Screen, escape_hidden};

pub async fn run(home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    let client = home.build_client()?;
    let mut answer = client.get_me().await?;
    let Credentials { url, api_key_id, .. } = client.credentials();
    answer.document["url"] = url.as_str().into();
    answer.document["api_key_id"] = api_key_id.as_str().into();
    let profile = if client.has_key() { None } else { Some(home.profile().as_str()) };
    answer.document["profile"] = profile.into();
    screen.answer(&answer.document, || render_text(&answer.body, profile, client.credentials()))
}

fn render_text(me: &Me, profile: Option<&str>, Credentials { url, api_key_id, .. }: &Credentials) -> String {
    let mut lines = vec![
        format!("user          {}", me.user_id),
        format!("organization  {}", me.org_id),
        format!("server        {url}"),
        format!("profile       {}", profile.unwrap_or("none; the key is that of LATHE_API_KEY")),
        format!("api_key_id    {api_key_id}"),
        format!("role          {}", me.role),
    ];
    lines.extend(me.permissions.iter().map(|grant| format!("may           {}", grant_text(grant))));
    escape_hidden(&lines.join("\n"))
}
