//! The parameters of a request, from its query or from a form. A parameter without a value is absent, and none may be repeated
//! (RFC 6749, section 3.1).

use api_kit::error::Error;
use api_kit::extract::{expect_length, read};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use url::form_urlencoded;

use super::error::OauthError;

/// Parameters of one request. No client sends more.
const PARAMETERS_MAX: usize = 64;
/// Bytes of one value: the longest path and query of a URL.
const VALUE_BYTES_MAX: usize = 4096;
const FORM: &str = "application/x-www-form-urlencoded";

/// The parameters of a request, without those that have no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// The parameters of a query.
    pub fn of_query(request: &Request) -> Result<Self, OauthError> {
        Self::parse(request.uri().query().unwrap_or_default().as_bytes())
    }

    /// The parameters of a form. An error of the inner result is one of the form.
    pub async fn of_form(request: Request) -> Result<Result<Self, OauthError>, Error> {
        expect_length(request.headers())?;
        let is_form = is_form(request.headers());
        let body = read(request.into_body()).await?;
        Ok(if is_form {
            Self::parse(&body)
        } else {
            Err(OauthError::invalid_request(format!("the body must be {FORM}")))
        })
    }

    fn parse(bytes: &[u8]) -> Result<Self, OauthError> {
        let pairs = form_urlencoded::parse(bytes).take(PARAMETERS_MAX + 1);
        let pairs: Vec<_> = pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        if pairs.len() > PARAMETERS_MAX {
            return Err(OauthError::invalid_request(format!("there are more than {PARAMETERS_MAX} parameters")));
        }
        if pairs.iter().any(|(_, value)| value.len() > VALUE_BYTES_MAX || value.contains('\0')) {
            return Err(OauthError::invalid_request(format!("a value has more than {VALUE_BYTES_MAX} bytes, or NUL")));
        }
        Ok(Self(pairs.into_iter().filter(|(_, value)| !value.is_empty()).collect()))
    }

    /// The value of a parameter that may be absent.
    pub fn find_value(&self, name: &str) -> Result<Option<&str>, OauthError> {
        let mut values = self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(OauthError::invalid_request(format!("`{name}` is repeated"))),
            (value, None) => Ok(value),
        }
    }

    pub fn require_value(&self, name: &str) -> Result<&str, OauthError> {
        self.find_value(name)?.ok_or_else(|| OauthError::invalid_request(format!("`{name}` is missing")))
    }
}

fn is_form(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case(FORM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_has_one_value() {
        let parameters = Parameters::parse(b"a=1&b=2&b=3&c=&d=%20x+y").unwrap();
        assert_eq!(parameters.require_value("a").unwrap(), "1");
        assert!(parameters.find_value("b").is_err());
        assert_eq!(parameters.find_value("c").unwrap(), None);
        assert!(parameters.require_value("c").is_err());
        assert_eq!(parameters.require_value("d").unwrap(), " x y");
    }

    #[test]
    fn parameters_have_bounds() {
        assert!(Parameters::parse("a=1&".repeat(PARAMETERS_MAX + 1).as_bytes()).is_err());
        assert!(Parameters::parse(format!("a={}", "x".repeat(VALUE_BYTES_MAX + 1)).as_bytes()).is_err());
        assert!(Parameters::parse(b"a=%00").is_err());
    }
}
