//! A server, and an organisation with a user and a key.

use registry::{NewOrganization, OrganizationId, UserId};

use crate::client::{Credentials, SecretText};
use crate::commands::tool::Language;
use crate::demo::report::Told;
use crate::demo::stage::{ORGANIZATION, Stage, USER};
use crate::server::{self, Settings};

pub async fn start_server(stage: &mut Stage) -> anyhow::Result<Told<String>> {
    let mut settings = Settings::for_demo(stage.data())?;
    // The project that a new tool in Rust begins with has crates.
    settings.builds.crate_index = (stage.language() == Language::Rust).then(|| "crates.io".to_owned());
    let assembled = server::assemble(&settings).await?;
    let url = server::url_of(assembled.address());
    stage.serve(assembled);
    Ok(Told::new(url.clone(), url))
}

/// Like `lathe org create` beside a running server, then `lathe login`.
pub async fn create(stage: &mut Stage, url: &str) -> anyhow::Result<Told<()>> {
    let store = server::open_store(&stage.data()).await?;
    let new = NewOrganization { organization: OrganizationId::parse(ORGANIZATION)?, user: UserId::parse(USER)? };
    let key = store.create_organization(new).await?;
    let result = format!("{ORGANIZATION} with user {USER} and key {}", key.api_key_id);
    stage.log_in(Credentials {
        url: url.to_owned(),
        organization: ORGANIZATION.to_owned(),
        user_id: USER.to_owned(),
        api_key_id: key.api_key_id,
        api_key: SecretText::new(key.api_key.expose().to_owned()),
    })?;
    stage.client()?.token().await?;
    Ok(Told::new((), result))
}
