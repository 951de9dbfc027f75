//! A program with a client metadata document, whose user signs in.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::harness::{Answer, Options, Server, Site, Team};
use crate::mcp::client::Gateway;

pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// Path of the document on the program's site.
const DOCUMENT: &str = "/client.json";

/// Fields of a form or a query.
pub type Fields = Vec<(String, String)>;

/// The program, its site and the server that it signs in at.
pub struct Application {
    pub site: Site,
    pub server: Arc<Server>,
    pub client_id: String,
    pub redirect_uri: String,
    _authorities: TempDir,
}

impl Application {
    pub fn new() -> Self {
        Self::at(&[])
    }

    /// A program at a server with more arguments.
    pub fn at(arguments: &[&str]) -> Self {
        let site = Site::secure();
        let authorities = TempDir::new().expect("a directory");
        let file = authorities.path().join("authorities.pem");
        std::fs::write(&file, site.certificate.as_ref().expect("a certificate")).expect("a file");
        let mut options = Options::reaching_loopback();
        options.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        options.environment.push(("SSL_CERT_FILE".to_owned(), file.display().to_string()));
        let server = Server::private(&options);
        let (client_id, redirect_uri) = (site.url(DOCUMENT), site.url("/callback"));
        let application = Self { site, server, client_id, redirect_uri, _authorities: authorities };
        application.describe(&json!({}));
        application
    }

    /// Publishes the document with other members.
    pub fn describe(&self, changes: &Value) {
        let mut document = json!({
            "client_id": self.client_id, "client_name": "Test <b>Client</b>", "redirect_uris": [self.redirect_uri],
            "token_endpoint_auth_method": "none",
        });
        for (name, value) in changes.as_object().expect("an object") {
            document[name] = value.clone();
        }
        self.site.publish(DOCUMENT, "application/json", &document.to_string());
    }

    /// The parameters of a valid request for access to a gateway.
    pub fn request(&self, gateway: &Gateway) -> Fields {
        fields(&[
            ("response_type", "code"),
            ("client_id", &self.client_id),
            ("redirect_uri", &self.redirect_uri),
            ("state", "a state & more"),
            ("code_challenge", &challenge(VERIFIER)),
            ("code_challenge_method", "S256"),
            ("scope", "mcp"),
            ("resource", &resource(gateway)),
        ])
    }

    /// The page of a request.
    pub fn page(&self, asked: &Fields) -> Answer {
        let pairs: Vec<_> = asked.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.server.request("GET", "/oauth/authorize").query(&pairs).send()
    }

    /// The answer to the form of a user who allows the access.
    pub fn allow(&self, asked: &Fields, user: &Team) -> Answer {
        let own = fields(&[("user", &user.user), ("api_key", &user.api_key), ("decision", "allow")]);
        self.submit(&[asked.clone(), own].concat())
    }

    pub fn submit(&self, form: &Fields) -> Answer {
        self.server.request("POST", "/oauth/authorize").form(form).send()
    }

    /// A code of a user for a gateway.
    pub fn code(&self, gateway: &Gateway) -> String {
        let answer = self.allow(&self.request(gateway), gateway.team);
        parameter(&answer, "code").unwrap_or_else(|| panic!("{answer} {:?}", answer.headers))
    }

    /// The fields that exchange a code.
    pub fn exchange(&self, gateway: &Gateway, code: &str) -> Fields {
        fields(&[
            ("grant_type", "authorization_code"),
            ("client_id", &self.client_id),
            ("code", code),
            ("redirect_uri", &self.redirect_uri),
            ("code_verifier", VERIFIER),
            ("resource", &resource(gateway)),
        ])
    }

    /// The fields that renew an access.
    pub fn renewal(&self, refresh_token: &str) -> Fields {
        fields(&[("grant_type", "refresh_token"), ("client_id", &self.client_id), ("refresh_token", refresh_token)])
    }

    pub fn token(&self, form: &Fields) -> Answer {
        self.server.request("POST", "/oauth/token").form(form).send()
    }

    /// Tokens of a user for a gateway.
    pub fn signed_in(&self, gateway: &Gateway) -> Tokens {
        let code = self.code(gateway);
        Tokens::of(&self.token(&self.exchange(gateway, &code)).expect(200))
    }

    pub fn revoke(&self, token: &str, client_id: &str) {
        let form = fields(&[("token", token), ("client_id", client_id)]);
        let answer = self.server.request("POST", "/oauth/revoke").form(&form).send();
        assert_eq!(answer.status, 200, "{answer}");
    }
}

/// The tokens of a response.
pub struct Tokens {
    pub access: String,
    pub refresh: String,
}

impl Tokens {
    pub fn of(response: &Value) -> Self {
        let text = |name: &str| response[name].as_str().unwrap_or_else(|| panic!("{response}")).to_owned();
        Self { access: text("access_token"), refresh: text("refresh_token") }
    }
}

/// The URL of a gateway.
pub fn resource(gateway: &Gateway) -> String {
    format!("{}{}", gateway.team.server.url, gateway.path())
}

pub fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

pub fn fields(pairs: &[(&str, &str)]) -> Fields {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The fields with another value of one; an empty value is as none.
pub fn with(fields: &Fields, name: &str, value: &str) -> Fields {
    let rest = fields.iter().filter(|(known, _)| known != name).cloned();
    rest.chain([(name.to_owned(), value.to_owned())]).collect()
}

/// A parameter of the URI that a response leads to.
pub fn parameter(answer: &Answer, name: &str) -> Option<String> {
    let location = answer.headers.get("location")?.to_str().expect("text");
    let url = reqwest::Url::parse(location).expect("a URL");
    url.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

/// The status and the tools of a list with a token.
pub fn listed(gateway: &Gateway, token: &str) -> Answer {
    let request = gateway.team.server.request("POST", &gateway.path()).bearer(token);
    let request = request.header("accept", "application/json, text/event-stream");
    gateway.modern(request, "tools/list", json!({})).send_message()
}
