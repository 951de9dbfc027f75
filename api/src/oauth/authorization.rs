//! The request of a client for an authorisation. Its parameters are checked twice: before the page, and when the user has decided.

use registry::{AuthorizationTerms, PkceChallenge};

use super::SCOPE;
use super::client::Client;
use super::error::OauthError;
use super::parameters::Parameters;
use super::redirect::{Redirect, RedirectUri};
use super::refused::AuthorizationRefused;
use super::resource::GatewayUrl;
use super::server::OauthServer;

/// The parameters that the page repeats in its form.
pub(super) const REPEATED: [&str; 8] = [
    "response_type",
    "client_id",
    "redirect_uri",
    "state",
    "code_challenge",
    "code_challenge_method",
    "scope",
    "resource",
];

/// A valid request for an authorisation.
#[derive(Clone, Debug)]
pub(crate) struct Authorization {
    pub(super) client: Client,
    pub(crate) redirect: Redirect,
    pub(crate) gateway: GatewayUrl,
    challenge: PkceChallenge,
}

impl Authorization {
    /// Reads and checks a request. Errors before the redirect URI is proven are shown; later errors are sent to the client.
    pub(crate) async fn read(
        server: &OauthServer,
        parameters: &Parameters,
        issuer: String,
    ) -> Result<Self, AuthorizationRefused> {
        let client = Client::find(server, parameters.required("client_id")?).await?;
        let Some(uri) = client.redirect_uri(parameters.required("redirect_uri")?) else {
            let text = "the `redirect_uri` is none of the client's";
            return Err(OauthError::invalid_request(text).into());
        };
        let state = parameters.optional("state")?.map(str::to_owned);
        let redirect = Redirect { uri, state, issuer };
        match terms(parameters, &redirect.issuer) {
            Ok((gateway, challenge)) => Ok(Self { client, redirect, gateway, challenge }),
            Err(error) => Err(AuthorizationRefused::Sent(error, redirect)),
        }
    }

    /// The terms on which the code can be exchanged.
    pub(super) fn terms(&self) -> AuthorizationTerms {
        AuthorizationTerms {
            client_id: self.client.id.clone(),
            redirect_uri: Some(self.uri().as_str().to_owned()),
            resource: self.gateway.url.clone(),
            challenge: self.challenge.clone(),
        }
    }

    pub(super) const fn uri(&self) -> &RedirectUri {
        &self.redirect.uri
    }
}

fn terms(parameters: &Parameters, issuer: &str) -> Result<(GatewayUrl, PkceChallenge), OauthError> {
    if parameters.required("response_type")? != "code" {
        return Err(OauthError::new("unsupported_response_type", "the `response_type` should be `code`"));
    }
    if parameters.optional("code_challenge_method")? != Some("S256") {
        return Err(OauthError::invalid_request("the `code_challenge_method` should be `S256`"));
    }
    let challenge = PkceChallenge::parse(parameters.required("code_challenge")?);
    let challenge = challenge.map_err(|error| OauthError::invalid_request(error.to_string()))?;
    let scope = parameters.optional("scope")?.unwrap_or(SCOPE);
    if !scope.split(' ').any(|scope| scope == SCOPE) {
        return Err(OauthError::new("invalid_scope", format!("the only scope is `{SCOPE}`")));
    }
    let Some(resource) = parameters.optional("resource")? else {
        return Err(OauthError::new("invalid_target", "`resource` is missing: the URL of the MCP endpoint"));
    };
    let gateway = GatewayUrl::parse(resource, issuer);
    let text = "the `resource` is no MCP endpoint of this server: <server>/v1/<organization>/mcp/<agent>";
    Ok((gateway.ok_or_else(|| OauthError::new("invalid_target", text))?, challenge))
}
