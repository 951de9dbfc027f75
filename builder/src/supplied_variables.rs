//! The variables of a run without a version, which the caller supplies.

use std::collections::BTreeMap;

use registry::{EnvvarName, SecretValue, Variables};

use crate::error::Error;
use crate::steps::manifest::Manifest;

/// The values that a caller supplies.
#[derive(Debug, Clone)]
pub struct SuppliedVariables {
    pub envvars: BTreeMap<EnvvarName, String>,
    pub secrets: BTreeMap<EnvvarName, SecretValue>,
}

impl SuppliedVariables {
    /// Checks, before the build, that every required variable has a value of its kind.
    ///
    /// # Errors
    /// With the option of `lathe tool test` and the field of a request that give the missing values.
    pub fn suffice(&self, manifest: &Manifest) -> Result<(), Error> {
        let plain = manifest.required_envvars.iter().filter(|name| !self.envvars.contains_key(*name));
        let plain = plain.map(|name| self.explain_missing(name, false));
        let secrets = manifest.required_secret_envvars.iter().filter(|name| !self.secrets.contains_key(*name));
        let missing: Vec<String> = plain.chain(secrets.map(|name| self.explain_missing(name, true))).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::failed("variables", "missing-variable", missing.join("; ")))
    }

    fn explain_missing(&self, name: &EnvvarName, is_secret: bool) -> String {
        let (kind, option, field) = if is_secret {
            ("secret", format!("`--secret {name}`, which reads it from the environment"), "required_secret_envvars")
        } else {
            ("variable", format!("`--envvar {name}=VALUE`"), "required_envvars")
        };
        let is_other_kind = if is_secret { self.envvars.contains_key(name) } else { self.secrets.contains_key(name) };
        let other = if is_other_kind { ", and it is given as the other kind" } else { "" };
        format!("the tool requires the {kind} {name}{other}: add {option} (over HTTP, give it in {field})")
    }

    /// The variables that the manifest requires.
    ///
    /// # Errors
    /// When a required variable has no value, or is given as the other kind.
    pub fn required_by(mut self, manifest: &Manifest) -> Result<Variables, Error> {
        self.suffice(manifest)?;
        let envvars = manifest.required_envvars.iter().filter_map(|name| self.envvars.remove_entry(name)).collect();
        let secrets =
            manifest.required_secret_envvars.iter().filter_map(|name| self.secrets.remove_entry(name)).collect();
        Ok(Variables { envvars, secrets })
    }
}
