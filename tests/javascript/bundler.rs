//! The esbuild of a server that has none: a pinned package of the npm registry.

use std::sync::Arc;

use serde_json::json;

use super::typescript;
use crate::harness::{Bump, NpmRegistry, Options, Server, Team, Tool, needs};

/// A server without esbuild, with this npm registry.
fn server(registry: Option<&str>) -> Arc<Server> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let others = std::env::split_paths(&path).filter(|directory| !directory.join("esbuild").exists());
    let path = std::env::join_paths(others).expect("paths without colons").into_string().expect("UTF-8");
    let mut environment = vec![("PATH".to_owned(), path)];
    environment.extend(registry.map(|url| ("LATHE_NPM_REGISTRY".to_owned(), url.to_owned())));
    Server::private(&Options { environment, ..Options::default() })
}

fn greeting(team: &Team) -> Tool<'_> {
    typescript(team, "greet", &json!({}), "", "return `Hello, ${toolInput.name as string}`;").pushed()
}

fn refused(registry: Option<&str>, words: &[&str]) {
    let team = Team::on(&server(registry));
    let answer = greeting(&team).publish(Bump::Minor);
    answer.expect(400);
    for word in [&["LATHE_ESBUILD", "npm install --global esbuild", "LATHE_NPM_REGISTRY"], words].concat() {
        assert!(answer.detail().contains(word), "{word:?} is missing in: {answer}");
    }
}

fn works(registry: Option<&str>) {
    let server = server(registry);
    let team = Team::on(&server);
    let tool = greeting(&team);
    tool.publish(Bump::Minor).expect(201);
    assert_eq!(tool.invoke(json!({"name": "Ada"})).output(), "Hello, Ada");
    let sbom = team.get(&format!("/tool/{}/version/1.0.0/sbom", tool.id())).to_string();
    assert!(sbom.contains("pkg:generic/esbuild@0.28.2"), "{sbom}");
}

/// All steps are one test, since all servers of these tests share a cache.
#[test]
fn esbuild_comes_once_from_the_npm_registry() {
    Server::shared().forget_bundler();
    refused(None, &["bundle failed (toolchain): there is no esbuild"]);
    refused(Some("http://127.0.0.1:1"), &["bundle failed (registry): @esbuild/linux-", "@0.28.2 cannot be fetched"]);
    let packages = ["@esbuild/linux-x64", "@esbuild/linux-arm64"].map(|name| (name, "0.28.2", &b"another archive"[..]));
    refused(
        Some(&NpmRegistry::serve(&packages).url),
        &["bundle failed (hashes): @esbuild/linux-", "does not have the hash"],
    );
    let Some(registry) = needs::NPM_REGISTRY.require(std::env::var("LATHE_NPM_REGISTRY").ok()) else { return };
    works(Some(&registry));
    works(None);
    // Another program in the same place is never started.
    let shared = Server::shared();
    std::fs::write(shared.bundler(), "#!/bin/sh\nexit 1\n").expect("another program");
    works(Some("http://127.0.0.1:1"));
}
