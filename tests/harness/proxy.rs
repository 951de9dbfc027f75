//! nginx before the nodes of a cluster, with the configuration of `deploy/`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::{Nodes, PATIENCE, Process, Request, eventually, free_port, needs};

const CONFIGURATION: &str = include_str!("../../deploy/nginx.conf");

pub struct Proxy {
    process: Process,
    pub url: String,
    _folder: TempDir,
}

impl Proxy {
    /// `None` without nginx.
    #[track_caller]
    pub fn before(nodes: &Nodes) -> Option<Self> {
        let program = needs::NGINX.require(program())?;
        let (folder, port) = (TempDir::new().expect("a folder"), free_port());
        let mut text = CONFIGURATION.replace("listen 8080;", &format!("listen 127.0.0.1:{port};"));
        for (number, server) in (1..).zip(&nodes.servers) {
            text = text.replace(&format!("node-{number}:8080"), &server.address().to_string());
        }
        text = text.replace("/run/nginx.pid", &format!("{}/pid", folder.path().display()));
        assert!(!text.contains("node-"), "the configuration has other nodes: {text}");
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, text).expect("a configuration");
        let mut command = Command::new(program);
        // Workers would outlive tests that die.
        let one_process = "daemon off; master_process off;";
        command.args(["-e", "stderr", "-g", one_process, "-p"]).arg(folder.path()).arg("-c").arg(file);
        command.stdin(Stdio::null());
        let proxy = Self { process: Process::start(command), url: format!("http://127.0.0.1:{port}"), _folder: folder };
        let answers = || Request::to(&proxy.url, "GET", "/health/live").try_send_by_proxy();
        eventually("the start of nginx", || answers().filter(|answer| answer.status == 200));
        Some(proxy)
    }
}

impl Drop for Proxy {
    /// nginx answers the requests that have arrived.
    fn drop(&mut self) {
        self.process.signal(Signal::SIGQUIT);
        self.process.ended_within(PATIENCE);
    }
}

fn program() -> Option<PathBuf> {
    ["/usr/sbin/nginx", "/usr/bin/nginx"].map(PathBuf::from).into_iter().find(|path| path.exists())
}
