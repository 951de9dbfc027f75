//! A shell that runs the commands of a document.
//!
//! Replaced are the addresses and names of the examples, placeholders such as `INVOCATION_ID`, and programs that a test has not,
//! such as `docker`, which do nothing. `lathe serve` and commands for Postgres and buckets, which other tests run, only have their
//! arguments checked.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;

use crate::harness::{Lathe, Said, Server, Team, clean_environment, local_cache};

/// Programs of other machines and other tests.
const STUBS: [&str; 20] = [
    "apt-get",
    "cargo",
    "cp",
    "createdb",
    "docker",
    "install",
    "kubectl",
    "npm",
    "openssl",
    "pg_dump",
    "pg_restore",
    "pip",
    "python3",
    "runuser",
    "systemctl",
    "systemd-sysusers",
    "uv",
    "generator/bin/pip",
    "generator/bin/python",
    "npx",
];

/// The functions of the shell. The API key that a command prints is given to `lathe login`, as its reader would paste it.
const FUNCTIONS: &str = r#"
shown() { tee -a "$STATE/printed"; }
last() { sed -n "s/^$1  *//p" "$STATE/printed" | tail -n 1; }
first_id() { sed -n 's/^ *"id": "\([^"]*\)".*/\1/p' | head -n 1; }
lathe() {
    case " $* " in
        *" serve "* | *" worker "* | *" --watch "* | *" demo "* | *postgres://* | *s3://* | */etc/lathe/*) command lathe "$@" --help > /dev/null ;;
        " login "*) command lathe "$@" <<< "$(last api_key)" ;;
        *" deprecate "*) command lathe "$@" --yes ;;
        *) command lathe "$@" < /dev/null | shown ;;
    esac
}
ID() { last api_key_id; }
KEY_ID() { last api_key_id; }
HOLD() { last "created the hold"; }
CONVERSATION() { last started; }
TURN() { last turn | sed 's/ .*//'; }
jq() { cat > /dev/null; }
INVOCATION_ID() { command lathe --json history list | first_id; }
KEY_ID=$(last api_key_id)
KEY=$(last api_key)
TOOL_ID=$(command lathe --json tool list 2> /dev/null | first_id)
"#;

/// A shell in the directory that the last command left.
pub struct Shell {
    server: Arc<Server>,
    state: TempDir,
    /// Texts of the document and what stands for them.
    replacements: Vec<(String, String)>,
    environment: Vec<(String, String)>,
}

/// The kind of a block of code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Shell,
    /// Commands after `$`, and what they print.
    Console,
    Other,
}

/// The blocks of a document that its reader runs in a shell.
pub fn blocks(document: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(document);
    let text = std::fs::read_to_string(path).expect("a document");
    let (mut blocks, mut block) = (Vec::new(), None::<(Block, String)>);
    for line in text.lines() {
        match (line.strip_prefix("```"), block.as_mut()) {
            (Some("sh" | "bash"), None) => block = Some((Block::Shell, String::new())),
            (Some("console"), None) => block = Some((Block::Console, String::new())),
            (Some(_), None) => block = Some((Block::Other, String::new())),
            (Some(_), Some(_)) => {
                blocks.extend(block.take().filter(|(kind, _)| *kind != Block::Other).map(|(_, code)| code))
            }
            (None, Some((kind, code))) => {
                let command = if *kind == Block::Console { line.strip_prefix("$ ") } else { Some(line) };
                command.into_iter().for_each(|command| code.extend([command, "\n"]));
            }
            (None, None) => {}
        }
    }
    blocks
}

impl Shell {
    /// A shell for a reader whose server has its data in `lathe-data` of the directory.
    pub fn on(server: &Arc<Server>, directory: &Path) -> Self {
        let data = directory.join("lathe-data");
        if !data.exists() {
            std::os::unix::fs::symlink(server.data(), data).expect("a link");
        }
        Self::in_directory(server, directory)
    }

    fn in_directory(server: &Arc<Server>, directory: &Path) -> Self {
        let state = TempDir::new().expect("a directory");
        std::fs::create_dir(state.path().join("bin")).expect("a directory");
        let link =
            |target: &Path, name: &str| std::os::unix::fs::symlink(target, state.path().join(name)).expect("a link");
        link(Path::new(env!("CARGO_BIN_EXE_lathe")), "bin/lathe");
        std::fs::write(state.path().join("directory"), directory.to_str().expect("UTF-8")).expect("written");
        std::fs::write(state.path().join("printed"), "").expect("written");
        let address = server.address().to_string();
        let replacements = vec![("127.0.0.1:8080".to_owned(), address)];
        Self { server: server.clone(), state, replacements, environment: Vec::new() }
    }

    /// A shell for a team with a login, in the team's repository.
    pub fn of(team: &Team) -> Self {
        let shell = Self::in_directory(&team.server, &team.repository.directory);
        let config = shell.state.path().join("config");
        let login =
            ["login", "--url", &team.server.url, "--org", &team.organization, "--user", &team.user, "--api-key-id"];
        let lathe = Lathe { home: &config, directory: &team.repository.directory };
        lathe.run_with(&[&login[..], &[&team.api_key_id]].concat(), &team.api_key).ok();
        shell.replacing("acme", &team.organization)
    }

    /// Runs all blocks of a guide.
    #[track_caller]
    pub fn follow(&mut self, guide: &str) {
        for block in blocks(&format!("docs/how-to/{guide}")) {
            let said = self.run(&block);
            assert_eq!(said.code, Some(0), "{guide}:\n{block}\n{said:?}");
        }
    }

    pub fn replacing(mut self, text: &str, by: &str) -> Self {
        self.replacements.push((text.to_owned(), by.to_owned()));
        self
    }

    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The directory that the last command left.
    pub fn directory(&self) -> PathBuf {
        std::fs::read_to_string(self.state.path().join("directory")).expect("a path").trim().into()
    }

    /// Runs a block up to the first command that fails.
    pub fn run(&mut self, block: &str) -> Said {
        let mut code = block.to_owned();
        for (text, by) in &self.replacements {
            code = code.replace(text, by);
        }
        for placeholder in ["INVOCATION_ID", "KEY_ID", "CONVERSATION", "TURN"] {
            code = code.replace(&format!(" {placeholder}"), &format!(" \"$({placeholder})\""));
        }
        code = code.replace("--api-key-id ID", "--api-key-id \"$(ID)\"");
        let stubs: String = STUBS.iter().map(|name| format!("{name}() {{ :; }}\n")).collect();
        let script = format!("{FUNCTIONS}{stubs}set -eo pipefail\n{code}\npwd > \"$STATE/directory\"\n");
        let mut command = Command::new("bash");
        clean_environment(&mut command);
        let (state, bin) = (self.state.path(), self.state.path().join("bin"));
        let path = std::env::var("PATH").expect("a path");
        command.args(["-c", &script]).current_dir(self.directory()).stdin(Stdio::null());
        command.env("PATH", format!("{}:{path}", bin.display())).env("STATE", state).env("HOME", state);
        command.env("LATHE_CONFIG_DIR", state.join("config")).env("XDG_CACHE_HOME", local_cache());
        command.env("LATHE_URL", &self.server.url).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "ada@example.org");
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        Said::from(command.output().expect("bash starts"))
    }
}
