//! The variables of a run that is none of a version's: its caller gives them.

use std::collections::BTreeMap;

use registry::{EnvvarName, SecretValue, Variables};

use crate::error::{Error, Place};
use crate::steps::manifest::Manifest;

/// What the caller calls the places where values stand.
#[derive(Clone, Copy)]
pub struct Fields {
    pub envvars: &'static str,
    pub secrets: &'static str,
}

/// The declared variables out of those that are given.
///
/// # Errors
/// When a declared one has no value.
pub fn given(
    manifest: &Manifest,
    mut envvars: BTreeMap<EnvvarName, String>,
    mut secrets: BTreeMap<EnvvarName, SecretValue>,
    fields: Fields,
) -> Result<Variables, Error> {
    let missing = |name: &EnvvarName, field: &str| {
        let message = format!("the tool requires {name}; give it a value in {field}");
        Error::failed("variables", "missing-variable", message, Place::default())
    };
    let mut variables = Variables::default();
    for name in &manifest.required_envvars {
        let value = envvars.remove(name).ok_or_else(|| missing(name, fields.envvars))?;
        variables.envvars.insert(name.clone(), value);
    }
    for name in &manifest.required_secret_envvars {
        let value = secrets.remove(name).ok_or_else(|| missing(name, fields.secrets))?;
        variables.secrets.insert(name.clone(), value);
    }
    Ok(variables)
}
