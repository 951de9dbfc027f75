//! The variables of a run without a version, which the caller supplies.

use std::collections::BTreeMap;

use registry::{EnvvarName, SecretValue, Variables};

use crate::error::Error;
use crate::steps::manifest::Manifest;

/// The names of the fields in which the caller supplies values, for messages.
#[derive(Clone, Copy)]
pub struct Fields {
    pub envvars: &'static str,
    pub secrets: &'static str,
}

/// The values that a caller supplies.
#[derive(Debug, Clone)]
pub struct SuppliedVariables {
    pub envvars: BTreeMap<EnvvarName, String>,
    pub secrets: BTreeMap<EnvvarName, SecretValue>,
}

impl SuppliedVariables {
    /// The variables that the manifest requires.
    ///
    /// # Errors
    /// When a required variable has no value.
    pub fn required_by(mut self, manifest: &Manifest, fields: Fields) -> Result<Variables, Error> {
        let missing = |name: &EnvvarName, field: &str| {
            let message = format!("the tool requires the variable {name}; give it a value in {field}");
            Error::failed("variables", "missing-variable", message)
        };
        let mut variables = Variables::default();
        for name in &manifest.required_envvars {
            let value = self.envvars.remove(name).ok_or_else(|| missing(name, fields.envvars))?;
            variables.envvars.insert(name.clone(), value);
        }
        for name in &manifest.required_secret_envvars {
            let value = self.secrets.remove(name).ok_or_else(|| missing(name, fields.secrets))?;
            variables.secrets.insert(name.clone(), value);
        }
        Ok(variables)
    }
}
