//! `GET …/version/{version}/provenance` and `…/sbom`: what was said about a version when it was made, byte for byte.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use registry::{Attestation, Principal, ToolId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::detail::ExactVersion;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};

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
    /// As in the organisation's list of keys.
    keyid: String,
    /// In base64.
    sig: String,
}

/// The parts of a bill of materials that every one has; the `CycloneDX` specification describes all.
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

    pub(crate) fn operation() -> Operation {
        let example = json!({
            "payloadType": "application/vnd.in-toto+json", "payload": "eyJfdHlwZSI6…",
            "signatures": [{"keyid": "5".repeat(64), "sig": "bWVudA=="}],
        });
        Operation::new("get-tool-version-provenance", Tag::Versions, "Show how a version was made")
            .says(
                "The SLSA provenance (version 1) of a version in a signed DSSE envelope: commit, branch, image, packages and \
                build. Any verifier of DSSE envelopes checks it with a key of the organisation's list, without the server. \
                Versions of early releases have none.",
            )
            .answers::<Envelope>(200, "The envelope, as it was signed.", example)
    }

    pub(crate) async fn handle(
        State(app): State<App>,
        Caller(principal): Caller,
        InPath(tool): InPath<ToolId>,
        InPath(version): InPath<ExactVersion>,
    ) -> Result<Response, Error> {
        Ok(document(find(&app, &principal, &tool, version).await?.provenance))
    }
}

pub(crate) mod sbom {
    use super::*;

    pub(crate) fn operation() -> Operation {
        let example = json!({"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {}, "components": []});
        Operation::new("get-tool-version-sbom", Tag::Versions, "Show what a version is made of")
            .says(
                "The bill of materials of a version as a CycloneDX document (version 1.6): the interpreter and every package of \
                the lock file, each with its hash. The provenance names its SHA-256. Versions of early releases have none.",
            )
            .answers::<Bill>(200, "The document.", example)
    }

    pub(crate) async fn handle(
        State(app): State<App>,
        Caller(principal): Caller,
        InPath(tool): InPath<ToolId>,
        InPath(version): InPath<ExactVersion>,
    ) -> Result<Response, Error> {
        Ok(document(find(&app, &principal, &tool, version).await?.sbom))
    }
}

async fn find(
    app: &App,
    principal: &Principal,
    tool: &ToolId,
    ExactVersion(version): ExactVersion,
) -> Result<Attestation, Error> {
    let found = app.store().get_version(&principal.organization, tool, &version).await?.ok_or(Error::NotFound)?;
    app.store().attestation(&found).await?.ok_or(Error::NotFound)
}

/// As it lies there, so that digests of it hold.
fn document(text: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}
