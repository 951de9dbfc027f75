//! Step 1 of a call: the code, settings and variables of the tool.

use std::collections::BTreeMap;
use std::sync::Arc;

use registry::{
    Artifacts, Constraint, Digest, EnvvarName, OrganizationId, Principal, Store, ToolId, ToolVersion, Variables,
};

use super::resolved::Resolved;
use super::target::Target;
use crate::calls::call::{Candidate, Subject, UNPUBLISHED};
use crate::calls::intervention_rules::InterventionRules;
use crate::calls::output_schemas::OutputSchemas;
use crate::calls::schema;
use crate::calls::versions::{LoadedVersion, VersionCache};
use crate::error::{DamagedArtifact, DeprecatedVersion, Error};
use crate::limits::Limits;
use crate::sandbox::compile::{Compiler, Maker};
use crate::sandbox::egress::{CompiledMocks, EgressPolicy, Mocks};
use crate::sandbox::execution::{Code, CodeBundle};

/// Finds versions and prepares their code.
#[derive(Clone)]
pub(super) struct Resolver {
    pub store: Store,
    pub artifacts: Artifacts,
    pub compiler: Compiler,
    pub limits_max: Limits,
    pub versions: Arc<VersionCache>,
}

impl Resolver {
    pub async fn resolve(&self, principal: &Principal, subject: &Subject) -> Result<Target, Error> {
        match subject {
            Subject::Native(tool) => Ok(Target::Native(tool.clone())),
            Subject::Candidate(candidate) => {
                Ok(Target::Component(Box::new(Box::pin(self.resolve_candidate((**candidate).clone())).await?)))
            }
            Subject::Version { tool, constraint } => {
                self.resolve_published(&principal.organization, tool, constraint).await
            }
            Subject::Api { tool, version, .. } => {
                self.resolve_published(&principal.organization, tool, &Constraint::exactly(*version)).await
            }
            Subject::NotPresented { tool, presented } => {
                Err(Error::ToolNotPresented { tool: tool.clone(), presented: presented.clone() })
            }
        }
    }

    /// Resolves the highest live version that matches.
    async fn resolve_published(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        constraint: &Constraint,
    ) -> Result<Target, Error> {
        let Some(callable) = self.store.versions().callable(organization, tool, constraint).await? else {
            return Err(self.explain_missing(organization, tool, constraint).await?);
        };
        let (all, version) = (self.store.tools().variables_of(&callable).await?, &callable.version);
        let variables = require_variables(&version.required_envvars, &version.required_secret_envvars, all)?;
        let resolved = self.resolve_version(callable.tool.name.to_string(), version, variables).await?;
        Ok(Target::Component(Box::new(Resolved { callable: Some(callable), ..resolved })))
    }

    /// Returns the reason why no live version matches.
    async fn explain_missing(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        constraint: &Constraint,
    ) -> Result<Error, Error> {
        let found = self.store.versions().deprecated_match(organization, tool, constraint).await?;
        let Some((ToolVersion { version, updated_at: at, updated_by: by, .. }, live)) = found else {
            return Ok(Error::VersionNotFound { constraint: constraint.to_string() });
        };
        let tool_name = self.store.tools().get_tool(organization, tool).await?.map(|tool| tool.name.to_string());
        let tool_name = tool_name.unwrap_or_default();
        Ok(Error::VersionDeprecated(Box::new(DeprecatedVersion { tool_name, version, at, by, live })))
    }

    pub async fn resolve_candidate(&self, candidate: Candidate) -> Result<Resolved, Error> {
        let Candidate { tool_name, code, input_schema: schema, mocks, settings, mut variables, .. } = candidate;
        self.compile(&code.component, !code.bundle.bytes().is_empty()).await?;
        let outputs = OutputSchemas::compile(&settings).await?;
        Ok(Resolved {
            callable: None,
            // Unpublished code belongs to no tool, also when a tool has its name.
            tool_id: None,
            tool_name,
            version: UNPUBLISHED,
            // Its author is the caller.
            loaded: Arc::new(LoadedVersion {
                code: Ok(code),
                schema,
                outputs,
                rules: InterventionRules::default(),
                mocks,
            }),
            language: settings.language,
            limits: Limits::of(&settings, &self.limits_max),
            egress_policy: EgressPolicy::take(&settings, &mut variables),
            // Its declarations have passed no gate.
            calls: BTreeMap::new(),
            variables,
            component: None,
            is_recorded: settings.tape && self.store.history().keeps_tapes(),
            // Unpublished code neither uses nor adds recorded responses.
            responses_of: None,
        })
    }

    pub async fn resolve_version(
        &self,
        tool_name: String,
        version: &ToolVersion,
        mut variables: Variables,
    ) -> Result<Resolved, Error> {
        Ok(Resolved {
            callable: None,
            tool_id: Some(version.tool.clone()),
            tool_name,
            version: version.version,
            loaded: self.load(version).await?,
            language: version.settings.language,
            limits: Limits::of(&version.settings, &self.limits_max),
            egress_policy: EgressPolicy::take(&version.settings, &mut variables),
            calls: version.settings.calls.clone(),
            variables,
            component: Some(version.component_digest),
            is_recorded: version.settings.tape && self.store.history().keeps_tapes(),
            responses_of: version.settings.recorded_answers.then(|| version.tool.clone()),
        })
    }

    async fn load(&self, version: &ToolVersion) -> Result<Arc<LoadedVersion>, Error> {
        match self.versions.get(&version.id).filter(|_| self.compiler.holds(&version.image_digest)) {
            Some(found) => Ok(found),
            None => Box::pin(self.load_first(version)).await,
        }
    }

    async fn load_first(&self, version: &ToolVersion) -> Result<Arc<LoadedVersion>, Error> {
        let schema = schema::compile(Some(&version.input_schema)).await?;
        let outputs = OutputSchemas::compile(&version.settings).await?;
        let schema = schema.ok_or_else(|| Error::internal("a version has no schema"))?;
        let (code, mocks) = match self.read_stored(version).await {
            // Not cached, since the artifact may be restored.
            Err(Error::Damaged(damage)) => {
                return Ok(Arc::new(LoadedVersion {
                    code: Err(damage),
                    schema,
                    outputs,
                    rules: InterventionRules::default(),
                    mocks: Arc::default(),
                }));
            }
            stored => stored?,
        };
        let rules = InterventionRules::compile(version.settings.intervention_rules.clone()).await?;
        let loaded = Arc::new(LoadedVersion { code: Ok(code), schema, outputs, rules, mocks: mocks.into() });
        self.versions.keep(version.id.clone(), loaded.clone());
        Ok(loaded)
    }

    /// Reads the code and the mocks of a version from the artifacts.
    async fn read_stored(&self, version: &ToolVersion) -> Result<(Code, CompiledMocks), Error> {
        let component = version.image_digest;
        self.compile(&component, version.bundle_digest.is_some()).await?;
        let bundle = match &version.bundle_digest {
            Some(digest) => CodeBundle::new(self.read_bytes(digest).await?),
            None => CodeBundle::default(),
        };
        let mocks = match &version.settings.mocks_digest {
            Some(digest) => compile_mocks(&self.read_bytes(digest).await?)?,
            None => CompiledMocks::default(),
        };
        Ok((Code { component, bundle }, mocks))
    }

    /// Compiles a component unless this node has compiled it before.
    async fn compile(&self, component: &Digest, has_bundle: bool) -> Result<(), Error> {
        // Only images of the platform run bundles.
        let maker = if has_bundle { Maker::Platform } else { Maker::Author };
        self.compiler.ready(component, maker, self.read_bytes(component)).await.map(drop)
    }

    async fn read_bytes(&self, digest: &Digest) -> Result<Vec<u8>, Error> {
        let damaged = |problem: String| Error::Damaged(DamagedArtifact { artifact: *digest, problem });
        match self.artifacts.get(digest).await {
            Ok(found) => found.ok_or_else(|| damaged("is missing".to_owned())),
            Err(registry::Error::Corrupt { .. }) => Err(damaged("is damaged".to_owned())),
            Err(registry::Error::Io { source, .. }) => Err(damaged(format!("cannot be read ({source})"))),
            Err(error) => Err(error.into()),
        }
    }
}

fn compile_mocks(bytes: &[u8]) -> Result<CompiledMocks, Error> {
    let mocks: Mocks = serde_json::from_slice(bytes)
        .map_err(|error| Error::internal(format!("stored mocks cannot be read: {error}")))?;
    Ok(CompiledMocks::new(&mocks))
}

/// Refuses a component that differs from a pinned one.
pub(super) fn require_pinned(target: &Target, pinned: &[Digest]) -> Result<(), Error> {
    let present = target.component_digest();
    match pinned.iter().find(|pinned| present != Some(**pinned)) {
        Some(pinned) => Err(Error::DigestDiffers { pinned: *pinned, present }),
        None => Ok(()),
    }
}

/// Selects the variables that a version requires. All of them must be set.
pub(super) fn require_variables(
    envvars: &[EnvvarName],
    secrets: &[EnvvarName],
    mut all: Variables,
) -> Result<Variables, Error> {
    let missing = |name: &EnvvarName| Error::VariableMissing { name: name.to_string() };
    let mut found = Variables::default();
    for name in envvars {
        let value = all.envvars.remove(name).ok_or_else(|| missing(name))?;
        found.envvars.insert(name.clone(), value);
    }
    for name in secrets {
        let value = all.secrets.remove(name).ok_or_else(|| missing(name))?;
        found.secrets.insert(name.clone(), value);
    }
    Ok(found)
}
