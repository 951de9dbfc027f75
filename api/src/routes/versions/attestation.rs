//! `GET …/version/{version}/provenance` and `…/sbom`: the attestations of a version, byte for byte as they were made.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use registry::{Attestation, OrganizationId, Store, ToolId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::detail::ExactVersion;
use crate::sections;

/// A DSSE envelope around an in-toto statement.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProvenanceEnvelope")]
#[serde(rename_all = "camelCase")]
struct Envelope {
    payload_type: String,
    /// The statement, in base64.
    payload: String,
    signatures: Vec<Signature>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProvenanceSignature")]
struct Signature {
    /// The `kid` of a key of the organisation.
    keyid: String,
    /// The signature, in base64.
    sig: String,
}

/// The common parts of a bill of materials; the `CycloneDX` specification describes all parts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BillOfMaterials")]
#[serde(rename_all = "camelCase")]
struct Bill {
    bom_format: String,
    spec_version: String,
    metadata: Value,
    components: Vec<Value>,
}

pub(crate) mod provenance {
    use super::*;

    pub(crate) fn operation() -> OperationDoc {
        let example = json!({
            "payloadType": "application/vnd.in-toto+json", "payload": "eyJfdHlwZSI6…",
            "signatures": [{"keyid": "5".repeat(64), "sig": "bWVudA=="}],
        });
        OperationDoc::new("get-tool-version-provenance", sections::VERSIONS, "Show the provenance of a version")
            .description(
                "The SLSA provenance (version 1) of a version in a signed DSSE envelope: commit, branch, image, packages \
                and build. Any verifier of DSSE envelopes can check it with a public key of the organisation, without the \
                server.",
            )
            .returns::<Envelope>(200, "The envelope, as it was signed.", example)
    }

    pub(crate) async fn handle(
        State(store): State<Store>,
        Caller(principal): Caller,
        InPath(tool): InPath<ToolId>,
        InPath(version): InPath<ExactVersion>,
    ) -> Result<Response, Error> {
        Ok(respond_with_text(find(&store, &principal.organization, &tool, version).await?.provenance))
    }
}

pub(crate) mod sbom {
    use super::*;

    pub(crate) fn operation() -> OperationDoc {
        let example = json!({"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {}, "components": []});
        OperationDoc::new("get-tool-version-sbom", sections::VERSIONS, "Show the bill of materials of a version")
            .description(
                "The bill of materials of a version as a CycloneDX document (version 1.6): the interpreter and every \
                package of the lock file, each with its hash. The provenance has its SHA-256.",
            )
            .returns::<Bill>(200, "The document.", example)
    }

    pub(crate) async fn handle(
        State(store): State<Store>,
        Caller(principal): Caller,
        InPath(tool): InPath<ToolId>,
        InPath(version): InPath<ExactVersion>,
    ) -> Result<Response, Error> {
        Ok(respond_with_text(find(&store, &principal.organization, &tool, version).await?.sbom))
    }
}

async fn find(
    store: &Store,
    organization: &OrganizationId,
    tool: &ToolId,
    ExactVersion(version): ExactVersion,
) -> Result<Attestation, Error> {
    let found = store.versions().get_version(organization, tool, &version).await?.ok_or(Error::NotFound)?;
    store.versions().attestation(&found).await?.ok_or(Error::NotFound)
}

/// The stored text, unchanged, so that its digest stays valid.
fn respond_with_text(text: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}
