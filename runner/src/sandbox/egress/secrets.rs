//! Replaces `{{secret:NAME}}` in headers by the secret, which the tool never receives.

use registry::{HostPattern, SecretValue};

use super::target::Target;
use crate::sandbox::ports::{HttpError, HttpErrorCode};

const START: &str = "{{secret:";
const END: &str = "}}";
/// Placeholders in one header. A secret may be large.
const PLACEHOLDERS_MAX: usize = 8;

/// A secret and the hosts that may receive it.
#[derive(Debug, Clone)]
pub struct HostSecret {
    pub name: String,
    pub value: SecretValue,
    pub hosts: Vec<HostPattern>,
}

/// The secrets of a version that stay with the host.
#[derive(Debug, Clone, Default)]
pub struct Secrets(pub Vec<HostSecret>);

/// A text with its secrets, and their names.
pub struct Filled {
    pub text: String,
    pub names: Vec<String>,
}

impl Secrets {
    /// Replaces every placeholder.
    ///
    /// # Errors
    /// When the target may not receive one of the secrets.
    pub fn fill(&self, value: &str, target: &Target) -> Result<Filled, HttpError> {
        let mut filled = Filled { text: String::new(), names: Vec::new() };
        let mut rest = value;
        while let Some((before, after)) = rest.split_once(START) {
            let (name, text) = after
                .split_once(END)
                .ok_or_else(|| deny(format!("the placeholder `{START}` has no closing `{END}`")))?;
            let secret = self.find(name, target)?;
            if filled.names.len() == PLACEHOLDERS_MAX {
                return Err(deny(format!("a header may have at most {PLACEHOLDERS_MAX} secrets")));
            }
            filled.text.push_str(before);
            filled.text.push_str(secret.value.expose());
            filled.names.push(secret.name.clone());
            rest = text;
        }
        filled.text.push_str(rest);
        Ok(filled)
    }

    fn find(&self, name: &str, target: &Target) -> Result<&HostSecret, HttpError> {
        let secret = self.0.iter().find(|secret| secret.name == name);
        let secret = secret.ok_or_else(|| deny(format!("`secret_hosts` of the version does not list {name:?}")))?;
        let may_receive = secret.hosts.iter().any(|pattern| target.is_declared(pattern));
        let message = || format!("`secret_hosts` of the version does not allow {name} for {}", target.authority());
        if may_receive { Ok(secret) } else { Err(deny(message())) }
    }
}

fn deny(message: String) -> HttpError {
    HttpError::new(HttpErrorCode::Denied, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(value: &str, url: &str) -> Result<Filled, HttpError> {
        let hosts = vec![HostPattern::parse("api.example.com").unwrap()];
        let secret = HostSecret { name: "API_KEY".into(), value: SecretValue::new("s3cret".into()), hosts };
        Secrets(vec![secret]).fill(value, &Target::parse(url).unwrap())
    }

    #[test]
    fn a_secret_is_sent_to_the_hosts_of_the_manifest() {
        let Ok(filled) = fill("Bearer {{secret:API_KEY}}.", "https://api.example.com/") else { panic!("refused") };
        assert_eq!((filled.text.as_str(), filled.names), ("Bearer s3cret.", vec!["API_KEY".to_owned()]));
    }

    #[test]
    fn a_secret_is_sent_to_no_other_host() {
        for (value, url) in [
            ("{{secret:API_KEY}}", "https://evil.example.com/"),
            ("{{secret:API_KEY}}", "http://api.example.com/"),
            ("{{secret:OTHER}}", "https://api.example.com/"),
            ("{{secret:API_KEY", "https://api.example.com/"),
        ] {
            let Err(error) = fill(value, url) else { panic!("{value} was sent to {url}") };
            assert_eq!(error.code, HttpErrorCode::Denied);
        }
    }
}
