//! The login of a machine without a saved one, such as a CI job: an API key in the environment, which contains its id.
//!
//! The key takes precedence over a saved login, unless a profile is named. Nothing is read from a file or written to one if the variables name
//! server and organisation.

use api::wire::SecretText;
use registry::ApiKeyId;

use crate::client::Credentials;
use crate::failure::Failure;

const API_KEY: &str = "LATHE_API_KEY";
const URL: &str = "LATHE_URL";
const ORGANIZATION: &str = "LATHE_ORG";
const USER: &str = "LATHE_USER";
/// The address of a server on this machine.
pub const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// Reads the login from variables; `None` without a key. Server and organisation are those of the saved login where no variable names them.
///
/// # Errors
/// When the variable has no key, or the organisation is not known.
pub fn read(
    variable: impl Fn(&str) -> Option<String>,
    saved: impl FnOnce() -> anyhow::Result<Option<Credentials>>,
) -> anyhow::Result<Option<Credentials>> {
    let given = |name: &str| variable(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let Some(api_key) = given(API_KEY) else { return Ok(None) };
    let Some(api_key_id) = ApiKeyId::of_key(&api_key) else {
        return Err(Failure::usage(
            format!("{API_KEY} is not an API key: its checksum is wrong, or a part is missing"),
            "set the whole key, which begins with lk_; `lathe key create` makes one",
        ));
    };
    let (url, organization) = (given(URL).map(|url| url.trim_end_matches('/').to_owned()), given(ORGANIZATION));
    let saved = if url.is_some() && organization.is_some() { None } else { saved()? };
    let url = url.or_else(|| Some(saved.as_ref()?.url.clone())).unwrap_or_else(|| DEFAULT_URL.to_owned());
    let organization = organization.or_else(|| saved.filter(|saved| saved.url == url).map(|saved| saved.organization));
    let Some(organization) = organization else {
        return Err(Failure::usage(
            format!("{API_KEY} is set, and {ORGANIZATION} is not"),
            format!("set {ORGANIZATION} to the organisation of the key, and {URL} to the server's address"),
        ));
    };
    let (api_key_id, api_key) = (String::from(api_key_id), SecretText::new(api_key));
    Ok(Some(Credentials { url, organization, user_id: given(USER), api_key_id, api_key }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> String {
        ApiKeyId::parse(&"a".repeat(12)).expect("an id").make_key(&"b".repeat(43)).expose().to_owned()
    }

    fn saved() -> Credentials {
        Credentials {
            url: "https://tools.example.com".to_owned(),
            organization: "acme".to_owned(),
            user_id: Some("ada".to_owned()),
            api_key_id: "id".to_owned(),
            api_key: SecretText::new("key".to_owned()),
        }
    }

    fn of(variables: &[(&str, &str)], login: Option<Credentials>) -> anyhow::Result<Option<Credentials>> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
        read(variable, || Ok(login))
    }

    #[test]
    fn a_key_names_its_id() {
        let key = key();
        let login = of(&[(API_KEY, &key), (URL, "http://h:1/"), (ORGANIZATION, "zeta")], None).unwrap().unwrap();
        assert_eq!((login.url.as_str(), login.organization.as_str()), ("http://h:1", "zeta"));
        assert_eq!((login.api_key_id, login.user_id), ("a".repeat(12), None));
        let local = of(&[(API_KEY, &key), (ORGANIZATION, "zeta"), (USER, "eve")], None).unwrap().unwrap();
        assert_eq!((local.url.as_str(), local.user_id.as_deref()), (DEFAULT_URL, Some("eve")));
        assert!(of(&[(API_KEY, ""), (ORGANIZATION, "zeta")], Some(saved())).unwrap().is_none());
    }

    #[test]
    fn server_and_organisation_of_a_saved_login_are_used_together() {
        let key = key();
        let login = of(&[(API_KEY, &key)], Some(saved())).unwrap().unwrap();
        assert_eq!((login.url, login.organization, login.user_id), (saved().url, saved().organization, None));
        assert!(of(&[(API_KEY, &key), (URL, "http://other")], Some(saved())).is_err());
    }

    #[test]
    fn a_key_that_was_cut_or_has_no_organisation_is_refused() {
        let key = key();
        for variables in [[(API_KEY, &key[..20]), (ORGANIZATION, "zeta")], [(API_KEY, &key), (ORGANIZATION, "")]] {
            assert!(of(&variables, None).is_err(), "{variables:?}");
        }
    }
}
