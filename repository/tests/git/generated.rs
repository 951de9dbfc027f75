//! Three hundred repositories with one fault each, pushed with the real git and read by the export.

use std::time::{Duration, Instant};

use fastrand::Rng;
use git2::{ObjectType, Oid, Repository};
use registry::ProjectPath;
use repository::{CommitId, DEPTH_MAX, ENTRIES_MAX, Error, FILE_BYTES_MAX, export_project};

use crate::client::Client;
use crate::forge::{DIRECTORY, FILE, Forge};
use crate::server::{PROJECT_FILES, Server};

const REPOSITORIES: u64 = 300;
/// Clients at a time, so that no processor is idle.
const CLIENTS: u64 = 3;

/// The fault of a repository. git's own refusals have no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Entry { mode: &'static str, name: &'static [u8], words: &'static str },
    NotUtf8,
    LongName,
    CaseCollision(&'static str, &'static str),
    Twice,
    LinkedDirectory,
    Deep,
    LongPath,
    Bomb,
    Crowd,
    HugeFile,
    HugeTogether,
    WrongType,
    LongMessage,
    BadCommit(&'static str),
}

const fn entry(mode: &'static str, name: &'static [u8], words: &'static str) -> Fault {
    Fault::Entry { mode, name, words }
}

#[rustfmt::skip]
const FAULTS: [Fault; 48] = [
    entry("120000", b"link", "symbolic links"), entry("120000", b"tool.py", "symbolic links"), entry("120000", b".gitignore", ""),
    entry("160000", b"module", "submodules"), entry("160000", b"vendor", "submodules"),
    entry("104755", b"setuid", "mode"), entry("100777", b"free", "mode"), entry("170000", b"odd", "mode"), entry("0", b"none", ""),
    entry(FILE, b".git", ""), entry(FILE, b".GIT", ""), entry(FILE, b".gIt", ""), entry(FILE, b"git~1", ""), entry(FILE, b"GIT~12", ""),
    entry(FILE, ".g\u{200c}it".as_bytes(), ""), entry(FILE, "\u{feff}.git".as_bytes(), ""), entry(FILE, b".git ", ""), entry(FILE, b".git.", ""),
    entry(FILE, b".git::$INDEX_ALLOCATION", ""), entry(FILE, b".gitmodules", ""), entry("120000", b".gitmodules", ""), entry(DIRECTORY, b".git", ""),
    entry(FILE, b"..", ""), entry(FILE, b".", ""), entry(FILE, b"", ""), entry(FILE, b"a/b", ""), entry(FILE, b"/etc/passwd", ""),
    entry(FILE, b"..\\up", "the name"), entry(FILE, b"a\nb", "the name"), entry(FILE, b"a\x1b[31m", "the name"), entry(FILE, b"nul\x01", "the name"),
    Fault::NotUtf8, Fault::LongName, Fault::CaseCollision("Tool.py", "tool.py"), Fault::CaseCollision("\u{c9}t\u{e9}", "\u{e9}t\u{e9}"),
    Fault::CaseCollision("ab", "a\u{200d}b"), Fault::Twice, Fault::LinkedDirectory, Fault::Deep, Fault::LongPath, Fault::Bomb, Fault::Crowd,
    Fault::HugeFile, Fault::HugeTogether, Fault::WrongType, Fault::LongMessage,
    Fault::BadCommit("author nobody\ncommitter nobody\n"), Fault::BadCommit("parent 1\n"),
];

impl Fault {
    /// The words of a refusal by the hook, which names a path.
    fn words(self) -> &'static str {
        match self {
            Self::Entry { words, .. } => words,
            Self::NotUtf8 => "not UTF-8",
            Self::LongName => "longer than 255 bytes",
            Self::CaseCollision(..) => "differs only in case",
            Self::Deep => "nested more than 32 deep",
            Self::LongPath => "longer than 4096 bytes",
            Self::Bomb | Self::Crowd => "more than 20000 files and directories",
            Self::HugeFile => "20971521 bytes",
            Self::HugeTogether => "more than 209715200 bytes",
            Self::LongMessage => "at most 1048576",
            Self::Twice | Self::LinkedDirectory | Self::WrongType | Self::BadCommit(_) => "",
        }
    }

    /// Whether the fault is in the project's tree, so that an export finds it.
    fn is_in_tree(self) -> bool {
        !matches!(self, Self::LongMessage | Self::BadCommit(_))
    }

    /// A directory that contains the fault.
    fn planted(self, forge: &Forge) -> Oid {
        let file = forge.blob(b"x");
        let folder = forge.tree(&[(FILE, b"f", file)]);
        let one = |mode, name: &[u8], id| forge.tree(&[(mode, name, id)]);
        match self {
            Self::Entry { mode: "160000", name, .. } => one("160000", name, Oid::from_bytes(&[7; 20]).expect("an id")),
            Self::Entry { mode: DIRECTORY, name, .. } => one(DIRECTORY, name, folder),
            Self::Entry { mode: "120000", name, .. } => one("120000", name, forge.blob(b"../../../../etc/passwd")),
            Self::Entry { mode, name, .. } => one(mode, name, file),
            Self::NotUtf8 => one(FILE, b"caf\xe9", file),
            Self::LongName => one(FILE, &[b'n'; 256], file),
            Self::CaseCollision(first, second) => {
                forge.tree(&[(FILE, first.as_bytes(), file), (FILE, second.as_bytes(), file)])
            }
            Self::Twice => forge.tree(&[(FILE, b"same", file), (FILE, b"same", file)]),
            Self::LinkedDirectory => forge.tree(&[("120000", b"up", forge.blob(b"/etc")), (DIRECTORY, b"up", folder)]),
            Self::Deep => forge.nested(folder, DEPTH_MAX),
            Self::LongPath => {
                (0..17).fold(folder, |inner, _| forge.tree(&[(DIRECTORY, [b'n'; 250].as_slice(), inner)]))
            }
            Self::Bomb => (0..10).fold(folder, |inner, _| many(forge, DIRECTORY, inner, 10)),
            Self::Crowd => many(forge, FILE, file, ENTRIES_MAX + 1),
            Self::HugeFile => one(FILE, b"zeros", forge.blob(&vec![0; usize::try_from(FILE_BYTES_MAX).unwrap() + 1])),
            Self::HugeTogether => {
                let largest = forge.blob(&vec![0; usize::try_from(FILE_BYTES_MAX).unwrap()]);
                many(forge, FILE, largest, 11)
            }
            Self::WrongType => one(DIRECTORY, b"file", file),
            Self::LongMessage | Self::BadCommit(_) => folder,
        }
    }

    fn commit(self, forge: &Forge, root: Oid) -> Oid {
        match self {
            Self::LongMessage => forge.commit(root, &"x".repeat(1 << 20)),
            Self::BadCommit(head) => {
                forge.object(ObjectType::Commit, format!("tree {root}\n{head}\nmessage\n").as_bytes())
            }
            _ => forge.commit(root, "honest"),
        }
    }
}

fn many(forge: &Forge, mode: &str, id: Oid, count: u64) -> Oid {
    let names: Vec<String> = (0..count).map(|number| format!("n{number:06}")).collect();
    forge.tree(&names.iter().map(|name| (mode, name.as_bytes(), id)).collect::<Vec<_>>())
}

/// A valid project at `tools/hello`, with the fault somewhere in it.
fn repository(forge: &Forge, seed: u64) -> (Fault, Oid) {
    let mut random = Rng::with_seed(seed);
    let fault = FAULTS[usize::try_from(seed).unwrap() % FAULTS.len()];
    let mut tree = fault.planted(forge);
    for level in 0..random.u32(0..4) {
        let beside = forge.blob(format!("{seed} {level} {}", random.u64(..)).as_bytes());
        tree = forge.tree(&[(FILE, b"a.py", beside), (DIRECTORY, b"folder", tree), (FILE, b"z.txt", beside)]);
    }
    let manifest = forge.blob(format!("[project]\nname = 'tool-{seed}'\n").as_bytes());
    let project = forge.tree(&[(FILE, b"pyproject.toml", manifest), (DIRECTORY, b"src", tree)]);
    let tools = forge.tree(&[(DIRECTORY, b"hello", project)]);
    (fault, fault.commit(forge, forge.tree(&[(DIRECTORY, b"tools", tools)])))
}

#[test]
fn three_hundred_hostile_repositories_are_refused_by_the_hook() {
    let server = Server::start();
    let slowest = std::thread::scope(|scope| {
        let push = |first: u64| {
            scope.spawn({
                let server = &server;
                move || {
                    (first..REPOSITORIES)
                        .step_by(CLIENTS as usize)
                        .map(|seed| refused(server, &client(server), seed))
                        .max()
                }
            })
        };
        let clients: Vec<_> = (0..CLIENTS).map(push).collect();
        clients.into_iter().filter_map(|client| client.join().expect("a client")).max().expect("pushes")
    });
    println!("{REPOSITORIES} pushes refused, the slowest in {} ms", slowest.as_millis());
    assert_eq!(server.tip("releases/acme"), None, "a branch moved");
    assert_eq!(server.quarantine_leftovers(), 0);
    // Valid pushes are still accepted.
    let author = Client::clone_from(&server.url(), &[]);
    author.commit("tools/hello/tool.py", b"def run_tool(): return 1\n");
    author.ok(&["push", "-q", "origin", "HEAD:releases/acme"]);
}

fn client(server: &Server) -> Client {
    Client::clone_from(&server.url(), &["--bare"])
}

/// Pushes one repository, and returns the time of the refusal.
fn refused(server: &Server, client: &Client, seed: u64) -> Duration {
    let forge = Forge::within(Repository::open_bare(&client.clone).expect("the clone"));
    let (fault, commit) = repository(&forge, seed);
    #[expect(clippy::disallowed_methods, reason = "how long a real push takes")]
    let started = Instant::now();
    let said = client.git(&["push", &server.url(), &format!("{commit}:refs/heads/releases/acme")]);
    let took = started.elapsed();
    said.assert_refused(&[fault.words()]);
    if !fault.words().is_empty()
        && fault.is_in_tree()
        && !matches!(fault, Fault::Crowd | Fault::Bomb | Fault::HugeTogether)
    {
        assert!(said.text.contains("tools/hello/src"), "{fault:?} names no path: {}", said.text);
    }
    took
}

#[test]
fn the_export_refuses_the_same_repositories_as_the_hook() {
    let server = Server::start();
    let forge = Forge::within(Repository::open_bare(server.repository.path()).expect("the repository"));
    let project = ProjectPath::parse("tools/hello").expect("a path");
    for seed in 0..REPOSITORIES {
        let (fault, commit) = repository(&forge, seed);
        let exported = export_project(&server.repository, &CommitId::from(commit), &project, &PROJECT_FILES);
        if fault.is_in_tree() {
            let refusal = exported.expect_err("a refusal");
            assert!(matches!(refusal, Error::RefusedTree(_)), "{fault:?}: {refusal}");
            assert!(refusal.to_string().contains("tools/hello"), "{fault:?} names no path: {refusal}");
        }
    }
}
