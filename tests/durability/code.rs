//! Missing or damaged compiled code is compiled again, and no run fails.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::sys::signal::Signal;
use registry::{DataDir, Digest, KeyRing};
use serde_json::json;

use super::faults::{FAULTS, Fault};
use crate::harness::{Bump, Options, Server, Team, Tool, eventually, input, runners};
use crate::hostile::component::component;
use crate::hostile::installed::{Installer, Settings};

/// A guest that returns "fine".
const GUEST: &str = include_str!("../hostile/guests/sleeps.wat");

fn server() -> Arc<Server> {
    Server::private(&Options { has_own_cache: true, ..Options::default() })
}

fn is_ready(server: &Server) {
    eventually("readiness", || (server.request("GET", "/health/ready").send().status == 200).then_some(()));
}

/// Four runs, so that every runner has at least one.
#[track_caller]
fn runs(tool: &Tool<'_>, output: &str) {
    let four = json!({"inputs": vec![input(&json!({})); 4]});
    for run in tool.invoke_inputs(&four) {
        assert_eq!(run.output(), output);
    }
}

/// The usual component with another digest.
fn named(name: &str) -> Vec<u8> {
    let length = |bytes: usize| u8::try_from(bytes).expect("a short name");
    let section = [&[0, length(name.len() + 1), length(name.len())], name.as_bytes()].concat();
    [component(GUEST), section].concat()
}

#[test]
fn damaged_code_does_not_affect_running_processes() {
    let server = server();
    let team = Team::on(&server);
    let tool = team.tool("greets").body("return 'hello'").published();
    runs(&tool, "hello");
    let image = server.compiled().into_iter().max_by_key(|(_, bytes)| *bytes).expect("the image's code").0;
    let (code, alive) = (fs::read(&image).expect("code"), runners(&server, 2));
    let other = team.home().join("other");
    fs::write(&other, vec![0xcc; code.len() / 3]).expect("a file");
    for fault in FAULTS {
        fault.spoil(&image, &other);
        runs(&tool, "hello");
        // Builds use the code, too.
        tool.test(&json!({})).expect(200);
        // Restores the file in place if it still exists, so that existing mappings see it.
        drop(fs::remove_dir_all(&image));
        fs::write(&image, &code).expect("what it was");
    }
    assert_eq!(runners(&server, 2), alive, "{}", server.log_about("runner"));
    // A new runner gets the same code as the others.
    Fault::CutShort.spoil(&image, &other);
    alive[0].signal(Signal::SIGKILL);
    eventually("another runner", || (!runners(&server, 2).contains(&alive[0])).then_some(()));
    runs(&tool, "hello");
    team.tool("later").body("return 'built'").published();
    assert!(!server.log_about("a runner died").contains("signal: 7"), "{}", server.log_about("a runner died"));
}

/// A tool with its own compiled code, and the path of that code.
struct Installed {
    name: String,
    id: String,
    digest: Digest,
    file: PathBuf,
    code: Vec<u8>,
}

fn installed(team: &Team, installer: &Installer<'_>, name: &str) -> Installed {
    let component = named(name);
    let id = installer.install(name, &component, Settings::default()).id().to_owned();
    let before: BTreeSet<_> = team.server.compiled().into_iter().collect();
    runs(&team.tool(name).with_id(&id), "fine");
    let after = team.server.compiled().into_iter();
    let file = after.filter(|file| !before.contains(file)).map(|(path, _)| path).next().expect("its code");
    let code = fs::read(&file).expect("code");
    Installed { name: name.to_owned(), id, digest: Digest::of(&component), file, code }
}

impl Installed {
    fn runs(&self, team: &Team) {
        runs(&team.tool(&self.name).with_id(&self.id), "fine");
    }

    /// Replaces the code by other code with a valid authentication code.
    fn sign(&self, server: &Server, code: &[u8]) {
        let keys = KeyRing::load(&DataDir::open(server.data()).expect("a data directory")).expect("keys");
        let cache = self.file.ancestors().nth(3).expect("the cache");
        let compiled = runner::CodeCache::open(cache, keys.derive("compiled code cache")).expect("a cache");
        assert_eq!(compiled.keep(&self.digest, code).expect("it is kept"), self.file);
    }

    #[track_caller]
    fn was_compiled_again(&self, server: &Server, because: &str) {
        let name = &self.name;
        // Log lines are written asynchronously.
        let said = eventually("the log of a compilation", || {
            let said = server.log_about(&self.digest.to_string());
            (said.contains(because) && said.contains("a component is compiled")).then_some(said)
        });
        assert_eq!(said.matches("a component is compiled").count(), 1, "{name}: {said}");
        assert!(fs::read(&self.file).expect("code") == self.code, "{name} is not what it was");
    }
}

fn mac(file: &Path) -> PathBuf {
    file.with_extension("mac")
}

/// Damages the tools' code in all ways, then its authentication codes.
fn spoil_all(tools: &[Installed], bystander: &Installed) {
    for (tool, fault) in tools.iter().zip(FAULTS) {
        fault.spoil(&tool.file, &bystander.file);
        if fault == Fault::Exchanged {
            fault.spoil(&mac(&tool.file), &mac(&bystander.file));
        }
    }
    for (tool, fault) in tools[FAULTS.len()..].iter().zip(FAULTS) {
        fault.spoil(&mac(&tool.file), &mac(&bystander.file));
    }
}

/// Stops the server and removes its log.
fn stopped(server: &Server) {
    server.signal(Signal::SIGTERM);
    server.ended();
    fs::remove_file(server.data().with_file_name("server.log")).expect("a log");
}

#[test]
fn damaged_code_is_compiled_again() {
    let mut server = server();
    let mut team = Team::on(&server);
    let installer = Installer::new(&team);
    let names = ["code", "mac"].into_iter().flat_map(|of| FAULTS.map(|fault| format!("{of}_{fault:?}").to_lowercase()));
    let tools: Vec<_> = names.map(|name| installed(&team, &installer, &name)).collect();
    let bystander = installed(&team, &installer, "bystander");
    drop(installer);
    for is_running in [false, true] {
        stopped(&server);
        if !is_running {
            spoil_all(&tools, &bystander);
        }
        server = server.restarted(|_| {});
        team = team.moved_to(server.clone());
        if is_running {
            spoil_all(&tools, &bystander);
        }
        for tool in &tools {
            tool.runs(&team);
            // Missing code is not reported as damaged.
            tool.was_compiled_again(&server, if tool.name == "code_removed" { "" } else { "damaged" });
        }
        bystander.runs(&team);
        assert_eq!(server.log_about(&bystander.digest.to_string()), "");
    }
}

/// The code is authentic, since the server's own key signed it.
#[test]
fn code_that_does_not_load_is_compiled_again() {
    let server = server();
    let team = Team::on(&server);
    let installer = Installer::new(&team);
    let [garbage, release, processor] =
        ["garbage", "release", "processor"].map(|name| installed(&team, &installer, name));
    drop(installer);
    stopped(&server);
    garbage.sign(&server, b"no code at all");
    // The engine's release with its length byte, and the names of the required processor features.
    release.sign(&server, &replaced(&release.code, b"\x0248", b"\x0247"));
    processor.sign(&server, &replaced(&processor.code, b"has_", b"hax_"));
    let server = server.restarted(|_| {});
    let team = team.moved_to(server.clone());
    for tool in [&garbage, &release, &processor] {
        tool.runs(&team);
        tool.was_compiled_again(&server, "does not load on this machine");
    }
    // The new code is stored.
    stopped(&server);
    let server = server.restarted(|_| {});
    let team = team.moved_to(server.clone());
    for tool in [garbage, release, processor] {
        tool.runs(&team);
        assert_eq!(server.log_about(&tool.digest.to_string()), "");
    }
}

fn replaced<const N: usize>(code: &[u8], from: &[u8; N], to: &[u8; N]) -> Vec<u8> {
    let mut code = code.to_vec();
    let places: Vec<_> = (0..code.len() - N).filter(|&place| code[place..].starts_with(from)).collect();
    assert!(!places.is_empty(), "compiled code does not say {:?}", String::from_utf8_lossy(from));
    for place in places {
        code[place..place + N].copy_from_slice(to);
    }
    code
}

/// The program contains the image, so that its code can be compiled again.
#[test]
fn a_lost_image_is_made_again() {
    let server = server();
    let team = Team::on(&server);
    let tool = team.tool("greets").body("return 'hello'").published();
    let id = tool.id().to_owned();
    runs(&tool, "hello");
    drop(tool);
    stopped(&server);
    let largest = |files: Vec<(PathBuf, u64)>| files.into_iter().max_by_key(|(_, bytes)| *bytes).expect("a file").0;
    let (image, code) = (largest(server.artifacts()), largest(server.compiled()));
    Fault::CutShort.spoil(&code, &code);
    Fault::Directory.spoil(&image, &image);
    let server = server.restarted(|_| {});
    is_ready(&server);
    let team = team.moved_to(server.clone());
    let tool = team.tool("greets").with_id(&id).body("return 'hello again'").pushed();
    runs(&tool, "hello");
    assert!(server.log_about("damaged").contains("compiled code"), "{}", server.log_about("damaged"));
    assert!(image.is_file() && server.log_about("was renamed").contains("artifact"));
    tool.publish(Bump::Minor).expect(201);
    runs(&tool, "hello again");
}
