//! Steps that start a server and create an organisation with a user and a key, or use those of a login.

use api::wire::SecretText;
use registry::{NewOrganization, OrganizationId, UserId};

use crate::client::Credentials;
use crate::demo::environment::{Environment, ORGANIZATION, USER};
use crate::demo::report::StepResult;
use crate::server::{self, Location, Settings};

pub async fn start_server(environment: &mut Environment) -> anyhow::Result<StepResult<String>> {
    let settings = Settings::for_demo(environment.data())?;
    let assembled = server::assemble(&settings).await?;
    let url = assembled.url();
    environment.serve(assembled);
    Ok(StepResult::new(url.clone(), url))
}

/// Does what `lathe org create` and `lathe login` do.
pub async fn create(environment: &mut Environment, url: &str) -> anyhow::Result<StepResult<()>> {
    let store = server::open_store(&Location::of_files(environment.data())).await?;
    let new = NewOrganization { organization: OrganizationId::parse(ORGANIZATION)?, user: UserId::parse(USER)? };
    let key = store.access().create_organization(new).await?;
    let result = format!("{ORGANIZATION} with user {USER} and key {}", key.api_key_id);
    environment.log_in(Credentials {
        url: url.to_owned(),
        organization: ORGANIZATION.to_owned(),
        user_id: Some(USER.to_owned()),
        api_key_id: key.api_key_id,
        api_key: SecretText::new(key.api_key.expose().to_owned()),
    })?;
    environment.client()?.get_token().await?;
    Ok(StepResult::new((), result))
}

pub async fn sign_in(environment: &mut Environment, login: &Credentials) -> anyhow::Result<StepResult<()>> {
    environment.log_in(login.clone())?;
    environment.client()?.get_token().await?;
    Ok(StepResult::new(
        (),
        format!("{} of {} at {}", login.user_id.as_deref().unwrap_or_default(), login.organization, login.url),
    ))
}
