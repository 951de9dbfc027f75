//! The page on which a user allows or denies the access of a client. All texts of the client are escaped and bounded, and the page
//! loads nothing but the style of this server.

use api_kit::error::Error;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY, RETRY_AFTER, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};

use super::authorization::{Authorization, REPEATED};
use super::error::OauthError;
use super::parameters::Parameters;
use super::text::escape_html;

const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'";
const BEGINNING: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
    content=\"width=device-width, initial-scale=1\">\n<meta name=\"robots\" content=\"noindex\">\n<title>Lathe: allow \
    access</title>\n<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/docs/page.css\">\n</head>\n<body>\n";
const END: &str = "</body>\n</html>\n";

/// The page with the form.
pub struct Page<'a> {
    pub asked: &'a Authorization,
    pub parameters: &'a Parameters,
    /// The message about the last attempt, which failed.
    pub problem: Option<String>,
}

/// A page with its status and the places that its form may lead to.
pub struct PageResponse {
    status: StatusCode,
    text: String,
    policy: String,
    retry_after_seconds: Option<u64>,
}

impl Page<'_> {
    /// The page before an attempt.
    pub fn respond(&self) -> PageResponse {
        let status = if self.problem.is_some() { StatusCode::FORBIDDEN } else { StatusCode::OK };
        let policy = format!("{POLICY}; form-action 'self' {}", self.asked.uri().build_policy_source());
        PageResponse {
            status,
            text: format!("{BEGINNING}{}{}{END}", self.render_question(), self.render_form()),
            policy,
            retry_after_seconds: None,
        }
    }

    /// The page after an attempt too many. Other errors are those of the API.
    pub fn respond_to_limit(mut self, error: Error) -> Result<PageResponse, Error> {
        let Error::RateLimited { .. } = error else { return Err(error) };
        self.problem = Some(format!("Too many attempts to sign in. {error}"));
        let retry_after_seconds = error.into_refusal().ok().and_then(|refusal| refusal.retry_after_seconds());
        Ok(PageResponse { status: StatusCode::TOO_MANY_REQUESTS, retry_after_seconds, ..self.respond() })
    }

    fn render_question(&self) -> String {
        let Authorization { client, gateway, .. } = self.asked;
        let name = client.name.as_deref().unwrap_or("A client without a name");
        let host = match &client.host {
            Some(host) => format!("described by <code>{}</code>", escape_html(host)),
            None => "which <strong>registered itself</strong>: nobody has checked its name".to_owned(),
        };
        let place = match self.asked.uri().is_loopback() {
            true => {
                "a program on <strong>your own computer</strong>. Go on only if you have just started it".to_owned()
            }
            false => format!("<code>{}</code>", escape_html(&self.asked.uri().describe_place())),
        };
        let (organization, agent) = (escape_html(gateway.organization.as_str()), escape_html(gateway.agent.as_str()));
        format!(
            "<h1>Allow access?</h1>\n<p><strong>{}</strong>, {host}, asks to see and call the tools of <strong>{agent}</strong> in \
            the organisation <strong>{organization}</strong>, with all your rights there.</p>\n<p>The access is sent to \
            {place}.</p>\n",
            escape_html(name)
        )
    }

    fn render_form(&self) -> String {
        let problem =
            self.problem.as_ref().map(|text| format!("<p role=\"alert\"><strong>{}</strong></p>\n", escape_html(text)));
        let hidden: String = REPEATED
            .iter()
            .filter_map(|name| Some((name, self.parameters.find_value(name).ok()??)))
            .map(|(name, value)| format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">\n", escape_html(value)))
            .collect();
        let user = escape_html(self.parameters.find_value("user").ok().flatten().unwrap_or_default());
        format!(
            "{}<form method=\"post\" action=\"/oauth/authorize\">\n{hidden}<p><label>User<br><input name=\"user\" value=\"{user}\" \
            autocomplete=\"username\" required></label></p>\n<p><label>API key<br><input name=\"api_key\" type=\"password\" \
            autocomplete=\"current-password\" required></label></p>\n<p><button name=\"decision\" value=\"allow\">Allow</button> \
            <button name=\"decision\" value=\"deny\" formnovalidate>Deny</button></p>\n</form>\n<p>The access ends when the API key \
            is revoked.</p>\n",
            problem.unwrap_or_default()
        )
    }
}

impl PageResponse {
    /// A page about an error that passes. Other errors are those of the API.
    pub fn of_refusal(error: Error) -> Result<Self, Error> {
        if !matches!(error, Error::Busy { .. } | Error::TooManyRequests { .. }) {
            return Err(error);
        }
        let (status, code, text) = (error.kind().status(), error.code(), error.to_string());
        let text = format!(
            "{BEGINNING}<h1>Try again in a moment</h1>\n<p role=\"alert\"><code>{code}</code>: {}</p>\n{END}",
            escape_html(&text)
        );
        let retry_after_seconds = error.into_refusal().ok().and_then(|refusal| refusal.retry_after_seconds());
        Ok(Self { status, text, policy: format!("{POLICY}; form-action 'none'"), retry_after_seconds })
    }

    /// A page about an error that no client may learn.
    pub fn of_error(error: &OauthError) -> Self {
        let text = format!(
            "{BEGINNING}<h1>This sign-in does not work</h1>\n<p role=\"alert\"><code>{}</code>: {}.</p>\n<p>Go back to the \
            program that sent you here, and tell its authors.</p>\n{END}",
            escape_html(error.error),
            escape_html(&error.error_description)
        );
        let policy = format!("{POLICY}; form-action 'none'");
        Self { status: StatusCode::BAD_REQUEST, text, policy, retry_after_seconds: None }
    }
}

impl IntoResponse for PageResponse {
    fn into_response(self) -> Response {
        let fixed: [(HeaderName, &str); 3] =
            [(CONTENT_TYPE, "text/html; charset=utf-8"), (REFERRER_POLICY, "no-referrer"), (X_FRAME_OPTIONS, "DENY")];
        let mut response = (self.status, fixed, self.text).into_response();
        // Without a valid policy the page would be without one.
        let policy = HeaderValue::from_str(&self.policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        if let Some(seconds) = self.retry_after_seconds {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
