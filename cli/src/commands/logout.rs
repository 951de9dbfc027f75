//! `lathe logout`: removes a login from this machine.

use serde_json::json;

use crate::failure::Outcome;
use crate::home::Home;
use crate::output::Screen;

pub fn run(home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    let profile = home.profile();
    // A damaged file is removed too.
    let key = home.load_credentials().ok().flatten().map(|credentials| credentials.api_key_id);
    if !home.forget_login()? {
        return Err(home.explain_missing_login().into());
    }
    screen.answer(&json!({"profile": profile.as_str(), "api_key_id": key}), || {
        let key = key
            .map(|id| format!("\nThe API key {id} stays valid until it expires or `lathe key revoke {id}` ends it."));
        format!("logged out of the profile {profile}{}", key.unwrap_or_default())
    })
}
