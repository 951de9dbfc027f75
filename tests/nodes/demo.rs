//! The demo on a cluster: Postgres, an S3 server, three nodes, and nginx with the configuration of `deploy/`.
//! `just cluster` prints what this test does.

use tempfile::TempDir;

use crate::harness::{Lathe, Nodes, Proxy};

const STEPS: usize = 13;

#[test]
fn the_demo_completes_on_a_cluster() {
    println!("starting Postgres, an S3 server and three nodes");
    let Some(nodes) = Nodes::start(3) else { return };
    for (number, node) in (1..).zip(&nodes.servers) {
        println!("  node {number}: http://{}", node.address());
    }
    let Some(proxy) = Proxy::before(&nodes) else { return };
    println!("  proxy:  {}", proxy.url);

    let home = TempDir::new().expect("a directory");
    let lathe = Lathe { home: home.path(), directory: home.path() };
    log_in(&nodes, &lathe, &proxy);
    println!("lathe demo --login");
    let said = lathe.run(&["demo", "--login"]).ok();
    println!("{}", said.stdout);
    assert_eq!(said.stdout.lines().filter(|line| line.starts_with("ok ")).count(), STEPS, "{said:?}");

    let versions = lathe.ok(&["tool", "versions", "greet_guests"]);
    assert!(versions.contains("1.1.0"), "the tool stays: {versions}");
    lathe.run(&["demo", "--login"]).refused(1, &["step 4, push it"]);
    println!("the cluster ends");
}

/// Creates an organisation at the first node, and logs in at the proxy.
fn log_in(nodes: &Nodes, lathe: &Lathe<'_>, proxy: &Proxy) {
    let node = &nodes.servers[0];
    let (data, database) = (node.data().to_str().expect("UTF-8"), node.database().expect("a URL"));
    println!("lathe org create demo --user ada");
    let key = lathe.json(&["org", "create", "demo", "--user", "ada", "--data", data, "--database", database]);
    let text = |name: &str| key[name].as_str().expect("text");
    println!("lathe login --url {} --org demo --user ada", proxy.url);
    let login = ["login", "--url", &proxy.url, "--org", "demo", "--user", "ada", "--api-key-id", text("api_key_id")];
    lathe.run_with(&login, text("api_key")).ok();
}
