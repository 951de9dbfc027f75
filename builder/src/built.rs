//! The result of a build.

use registry::{OrganizationId, VersionSettings};
use runner::{InputSchema, Mocks, SchemaMatcher};
use serde_json::Value;

use crate::attestation::Package;
use crate::checks::{CheckFiles, Subject};
use crate::component::BuiltArtifact;
use crate::error::Error;
use crate::steps::manifest::Manifest;
use crate::steps::schema::{self, Declared};

/// A built tool.
#[derive(Debug)]
pub struct Built {
    pub manifest: Manifest,
    pub settings: VersionSettings,
    pub input_schema: Value,
    pub validator: InputSchema,
    pub mocks: Mocks,
    /// The checks, not parsed yet: a rebuild of a version ignores them.
    pub checks: CheckFiles,
    pub artifact: BuiltArtifact,
    pub packages: Vec<Package>,
    /// Declarations that most likely do not do what their author means.
    pub warnings: Vec<String>,
}

impl Built {
    /// The tool's name, from the project's name.
    #[must_use]
    pub fn tool_name(&self) -> String {
        self.manifest.name.replace('-', "_").to_lowercase()
    }

    /// Compiles the schemas that are too expensive to compile in this process.
    ///
    /// # Errors
    /// When a schema is not a JSON Schema, or compiling it takes too long.
    pub(crate) async fn compile_expensive(
        &self,
        schemas: &SchemaMatcher,
        organization: &OrganizationId,
    ) -> Result<(), Error> {
        let Manifest { input_schema, output_schema, apis, .. } = &self.manifest;
        let input = Declared { schema: &self.validator, path: input_schema.as_deref(), check: schema::INPUT };
        input.compile_expensive(schemas, organization).await?;
        let of_tool = self.settings.output_schema.iter().map(|schema| (schema, output_schema));
        let of_apis = apis.values().zip(self.settings.apis.values());
        let of_apis = of_apis.filter_map(|(api, made)| Some((made.output_schema.as_ref()?, &api.output_schema)));
        for (output, path) in of_tool.chain(of_apis) {
            let output = InputSchema::compile(&output.value()).map_err(Error::internal)?;
            let output = Declared { schema: &output, path: path.as_deref(), check: schema::OUTPUT };
            output.compile_expensive(schemas, organization).await?;
        }
        Ok(())
    }

    /// The tool as checks run it.
    pub(crate) fn subject<'a>(&'a self, organization: &'a OrganizationId) -> Subject<'a> {
        Subject {
            organization,
            tool_name: self.tool_name(),
            code: self.artifact.code(),
            settings: &self.settings,
            input_schema: &self.validator,
            mocks: &self.mocks,
            required_envvars: &self.manifest.required_envvars,
            required_secret_envvars: &self.manifest.required_secret_envvars,
        }
    }
}
