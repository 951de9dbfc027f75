//! The request of a client for an authorisation. Its parameters are checked twice: before the page, and when the user has decided.

use registry::{AuthorizationTerms, PkceChallenge};

use super::SCOPE;
use super::client::{Asked, Client};
use super::error::OauthError;
use super::parameters::Parameters;
use super::redirect::{Redirect, RedirectUri};
use super::refused::AuthorizationRefused;
use super::resource::GatewayUrl;

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
pub struct Authorization {
    pub(super) client: Client,
    pub redirect: Redirect,
    pub gateway: GatewayUrl,
    challenge: PkceChallenge,
}

impl Authorization {
    /// Reads and checks a request. All errors are shown, and none is sent to the client: everyone can be a client, and lead users who have
    /// done nothing from here to a page of his own (RFC 9700, section 4.11.2).
    pub async fn read(asked: Asked<'_>, parameters: &Parameters, issuer: String) -> Result<Self, AuthorizationRefused> {
        let client = Client::find(asked, parameters.require_value("client_id")?).await?;
        let Some(uri) = client.redirect_uri(parameters.require_value("redirect_uri")?) else {
            let text = "the `redirect_uri` is none of the client's, or it is neither https, nor http on a loopback address, nor the \
                scheme of an application in reverse-domain form such as com.example.app:/callback";
            return Err(OauthError::invalid_request(text).into());
        };
        let state = parameters.find_value("state")?.map(str::to_owned);
        let redirect = Redirect { uri, state, issuer };
        let (gateway, challenge) = parse_terms(parameters, &redirect.issuer)?;
        Ok(Self { client, redirect, gateway, challenge })
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

fn parse_terms(parameters: &Parameters, issuer: &str) -> Result<(GatewayUrl, PkceChallenge), OauthError> {
    if parameters.require_value("response_type")? != "code" {
        return Err(OauthError::new("unsupported_response_type", "the `response_type` should be `code`"));
    }
    if parameters.find_value("code_challenge_method")? != Some("S256") {
        return Err(OauthError::invalid_request("the `code_challenge_method` should be `S256`"));
    }
    let challenge = PkceChallenge::parse(parameters.require_value("code_challenge")?);
    let challenge = challenge.map_err(|error| OauthError::invalid_request(error.to_string()))?;
    let scope = parameters.find_value("scope")?.unwrap_or(SCOPE);
    if !scope.split(' ').any(|scope| scope == SCOPE) {
        return Err(OauthError::new("invalid_scope", format!("the only scope is `{SCOPE}`")));
    }
    let Some(resource) = parameters.find_value("resource")? else {
        return Err(OauthError::new("invalid_target", "`resource` is missing: the URL of the MCP endpoint"));
    };
    let gateway = GatewayUrl::parse(resource, issuer);
    let text = "the `resource` is no MCP endpoint of this server: <server>/v1/<organization>/mcp/<agent>";
    Ok((gateway.ok_or_else(|| OauthError::new("invalid_target", text))?, challenge))
}
