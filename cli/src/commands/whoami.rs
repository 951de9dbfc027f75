//! `lathe whoami`: the logged-in user with their permissions.

use api::wire::Me;

use super::role::grant_text;
use crate::client::Credentials;
use crate::failure::Outcome;
use crate::home::Home;
use crate::output::{Screen, printable};

pub async fn run(home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    let client = home.client()?;
    let mut answer = client.me().await?;
    let Credentials { url, api_key_id, .. } = client.credentials();
    answer.document["url"] = url.as_str().into();
    answer.document["api_key_id"] = api_key_id.as_str().into();
    answer.document["profile"] = home.profile().as_str().into();
    screen.answer(&answer.document, || text(&answer.body, home, client.credentials()))
}

fn text(me: &Me, home: &Home, Credentials { url, api_key_id, .. }: &Credentials) -> String {
    let mut lines = vec![
        format!("user          {}", me.user_id),
        format!("organization  {}", me.org_id),
        format!("server        {url}"),
        format!("profile       {}", home.profile()),
        format!("api_key_id    {api_key_id}"),
        format!("role          {}", me.role),
    ];
    lines.extend(me.permissions.iter().map(|grant| format!("may           {}", grant_text(grant))));
    printable(&lines.join("\n"))
}
