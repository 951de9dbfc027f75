//! Reads the documents of a recorded run.

use std::collections::BTreeMap;

use registry::{EnvvarName, SecretValue, Variables};
use serde::Deserialize;

use crate::error::Error;

#[derive(Deserialize)]
struct Config {
    envvars: BTreeMap<String, String>,
    secrets: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct UserVariables {
    sensitive: BTreeMap<String, String>,
}

/// The variables of a `config` document.
pub(crate) fn read_variables(config: &str) -> Result<Variables, Error> {
    let Config { envvars, secrets } = serde_json::from_str(config).map_err(|_| Error::TapeDamaged)?;
    let name = |name: &str| EnvvarName::parse(name).map_err(|_| Error::TapeDamaged);
    let mut variables = Variables::default();
    for (key, value) in envvars {
        variables.envvars.insert(name(&key)?, value);
    }
    for (key, value) in secrets {
        variables.secrets.insert(name(&key)?, SecretValue::new(value));
    }
    Ok(variables)
}

/// The sensitive values of a `user_variables` document.
pub(crate) fn read_sensitive(user_variables: &str) -> Result<Vec<SecretValue>, Error> {
    let UserVariables { sensitive } = serde_json::from_str(user_variables).map_err(|_| Error::TapeDamaged)?;
    Ok(sensitive.into_values().map(SecretValue::new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_read_as_they_were_written() {
        let mut written = Variables::default();
        written.envvars.insert(EnvvarName::parse("REGION").unwrap(), "north".into());
        written.secrets.insert(EnvvarName::parse("KEY").unwrap(), SecretValue::new("open \"sesame\"".into()));
        let read = read_variables(&crate::calls::run_documents::write_config(&written)).unwrap();
        assert_eq!((read.envvars, read.secrets), (written.envvars, written.secrets));
        let document = r#"{"nonsensitive":{"a":"b"},"sensitive":{"pin":"1234"}}"#;
        assert_eq!(read_sensitive(document).unwrap(), [SecretValue::new("1234".into())]);
        assert!(read_variables("{").is_err() && read_sensitive("[]").is_err());
    }
}
