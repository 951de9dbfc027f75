//! Attestations of a version, verified by external programs, and rebuilds of published versions.

use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::{
    Attested, Bump, Options, PackageIndex, Server, Team, Tool, change_database, lock_line, package_wheel,
};

fn greeting() -> Vec<u8> {
    package_wheel("greeting", "1.0", &[("greeting.py", "WORD = 'ave'\n")])
}

/// A team on a server with an index of one package, and a published tool that uses it.
fn team() -> (PackageIndex, Team) {
    let index = PackageIndex::serve(&[("greeting", "greeting-1.0-py3-none-any.whl", &greeting())]);
    let options = Options { python_index: Some(index.url.clone()), ..Options::default() };
    let team = Team::on(&Server::private(&options));
    (index, team)
}

fn greets(team: &Team) -> Tool<'_> {
    let tool = team.tool("greets").with_file("requirements.lock", &lock_line("greeting", "1.0", &greeting()));
    tool.source("import greeting", "return greeting.WORD").published()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("a document")
}

fn payload(envelope: &Value) -> Vec<u8> {
    STANDARD.decode(envelope["payload"].as_str().expect("a payload")).expect("base64")
}

/// Verifies the signature of the envelope's statement with `openssl`.
fn openssl_verifies(documents: &Attested, envelope: &Value) -> bool {
    let (kind, statement) = (envelope["payloadType"].as_str().expect("a type"), payload(envelope));
    let head = format!("DSSEv1 {} {kind} {} ", kind.len(), statement.len());
    let signature = envelope["signatures"][0]["sig"].as_str().expect("a signature");
    let [message, signed] = ["message", "signature"].map(|name| documents.key.with_file_name(name));
    std::fs::write(&message, [head.as_bytes(), &statement].concat()).expect("a file");
    std::fs::write(&signed, STANDARD.decode(signature).expect("base64")).expect("a file");
    let mut command = Command::new("openssl");
    command.args(["pkeyutl", "-verify", "-rawin", "-pubin", "-inkey"]).arg(&documents.key);
    command.arg("-in").arg(message).arg("-sigfile").arg(signed);
    command.output().expect("openssl runs").status.success()
}

#[test]
fn provenance_and_bill_of_materials_are_verified_without_lathe() {
    let (_index, team) = team();
    let tool = greets(&team);
    let documents = Attested::of(&team, "greets", "1.0.0");
    let envelope = read(&documents.envelope);
    assert!(openssl_verifies(&documents, &envelope));
    let mut forged = envelope.clone();
    let text = String::from_utf8(payload(&envelope)).expect("text").replace("greets@1.0.0", "greets@9.0.0");
    forged["payload"] = json!(STANDARD.encode(text));
    assert!(!openssl_verifies(&documents, &forged), "a check that cannot fail");

    let version = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    let statement: Value = serde_json::from_slice(&payload(&envelope)).expect("a statement");
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    let digest = statement["subject"][0]["digest"]["sha256"].as_str().expect("a digest");
    assert_eq!(version["component_digest"], format!("sha256:{digest}"));
    let definition = &statement["predicate"]["buildDefinition"];
    assert_eq!(definition["externalParameters"]["commit"], version["tool_commit_hash"]);
    let uses = definition["resolvedDependencies"].to_string();
    for word in ["gitCommit", "urn:lathe:image:python-", "pkg:pypi/greeting@1.0"] {
        assert!(uses.contains(word), "{uses} lacks {word}");
    }
    let sbom = read(&documents.sbom);
    assert_eq!(sbom["components"][1]["purl"], "pkg:pypi/greeting@1.0");
    documents.others_verify();
}

#[test]
fn a_version_is_built_again_to_the_same_bytes() {
    let (_index, team) = team();
    let tool = greets(&team);
    let said = team.lathe().ok(&["tool", "verify", "greets", "1.0.0"]);
    assert_eq!(said, "identical\nthe signature of the provenance is valid\n");
    // The branch has moved on, and other builds have run. Only the commit matters.
    let tool = tool.body("return 'another'").pushed();
    assert_eq!(tool.publish(Bump::Patch).status, 201);
    for version in ["1.0.0", "1.0.1"] {
        let found = team.post(&format!("/tool/{}/version/{version}/verify", tool.id()), &json!({})).expect(200);
        assert_eq!(found, json!({"identical": true, "differences": [], "signed": true}));
    }
}

#[test]
fn a_version_is_verified_without_leftovers_of_earlier_builds() {
    let (_index, team) = team();
    let id = greets(&team).id().to_owned();
    let path = |action: &str| format!("/tool/{id}/version/{action}");
    // Another index, without packages.
    let nothing = PackageIndex::serve(&[]);
    team.server.kill();
    let server = team.server.restarted(|options| options.python_index = Some(nothing.url.clone()));
    let team = team.moved_to(server);
    let refused = team.post(&path("1.0.0/verify"), &json!({})).expect(400);
    assert!(refused["detail"].to_string().contains("greeting==1.0 is not in the package index"), "{refused}");
    // A publication takes the package from the cache.
    let again = team.tool("greets").with_id(&id).publish(Bump::Patch);
    assert_eq!(again.status, 201, "{again}");
}

#[test]
fn differences_of_a_rebuild_are_named() {
    let (_index, team) = team();
    let tool = greets(&team);
    // A version without a build: its row was inserted by hand.
    let change = "UPDATE versions SET bundle_digest = component_digest, component_digest = bundle_digest";
    let team = {
        let id = tool.id().to_owned();
        team.server.kill();
        change_database(team.server.data(), &["DROP TRIGGER versions_never_rewritten", change]);
        let server = team.server.restarted(|_| ());
        let team = team.moved_to(server);
        let found = team.post(&format!("/tool/{id}/version/1.0.0/verify"), &json!({})).expect(200);
        assert_eq!(found["identical"], false);
        assert_eq!(found["signed"], false, "the signature is on another component");
        let differ: Vec<_> = found["differences"].as_array().expect("a list").iter().map(|one| &one["what"]).collect();
        assert_eq!(differ, ["bundle_digest", "component_digest"]);
        team
    };
    let said = team.lathe().run(&["tool", "verify", "greets", "1.0.0"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("INVALID") && said.stdout.contains("component_digest\n  published  "), "{said:?}");
}

#[test]
fn unknown_versions_are_not_found() {
    let team = Team::new();
    let tool = team.tool("plain").published();
    for path in ["provenance", "sbom"] {
        let address = format!("/tool/{}/version/7.0.0/{path}", tool.id());
        assert_eq!(team.request("GET", &address).send().status, 404);
    }
    assert_eq!(team.post(&format!("/tool/{}/version/7.0.0/verify", tool.id()), &json!({})).status, 404);
    let other = Team::on(&team.server);
    let address = format!("/tool/{}/version/1.0.0/provenance", tool.id());
    assert_eq!(other.request("GET", &address).send().status, 404, "another organisation's");
    assert_eq!(other.get("/keys"), json!({"keys": []}), "no version, no key");
}
