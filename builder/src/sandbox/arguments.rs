//! Bubblewrap's options for a job.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::job::{BUILD_DIRECTORY, Job};

/// The user and group id inside the job.
const USER: &str = "1000";
/// The host name inside the job, the same on every machine so that builds are reproducible.
const HOST: &str = "build";
/// Directories of programs and libraries. A symbolic link of the system is the same link inside the job.
const SYSTEM: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];
/// The system's choice of compilers and linkers, and its library paths.
const SETTINGS: [&str; 4] = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"];
/// The search path, with the system's programs only.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A list of options.
#[derive(Default)]
pub struct Arguments(Vec<OsString>);

impl Arguments {
    /// The job's namespaces, mounts, environment and working directory. `sources` are the files to mount, in the order of
    /// [`Job::read_only`].
    pub fn of(job: &Job, sources: &[PathBuf]) -> Self {
        let mut made = Self::default();
        made.add_namespaces();
        made.add_system();
        made.add(&["--proc", "/proc"]).add(&["--dev", "/dev"]);
        let size = job.bounds.scratch_bytes.to_string();
        made.add(&["--perms", "0755", "--size", &size, "--tmpfs", BUILD_DIRECTORY]);
        for name in ["tmp", "home"] {
            made.add(&["--dir", &format!("{BUILD_DIRECTORY}/{name}")]);
        }
        made.add(&["--symlink", &format!("{BUILD_DIRECTORY}/tmp"), "/tmp"]);
        for (shown, from) in job.read_only.iter().zip(sources) {
            made.bind("--ro-bind", from, &shown.target);
        }
        made.add(&["--remount-ro", "/dev"]).add(&["--remount-ro", "/"]);
        made.add_environment(job);
        made.add(&["--chdir"]).0.push(job.directory.clone().into());
        made
    }

    /// The options as bubblewrap reads them from a descriptor. A job cannot read them in the list of processes then.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|argument| argument.as_bytes().iter().copied().chain([0])).collect()
    }

    pub fn add(&mut self, arguments: &[&str]) -> &mut Self {
        self.0.extend(arguments.iter().map(OsString::from));
        self
    }

    fn add_namespaces(&mut self) {
        self.add(&["--unshare-all", "--unshare-user", "--disable-userns"]);
        self.add(&["--uid", USER, "--gid", USER, "--hostname", HOST]);
        self.add(&["--cap-drop", "ALL", "--new-session", "--die-with-parent"]);
    }

    fn add_system(&mut self) {
        for path in SYSTEM.map(Path::new) {
            match fs::read_link(path) {
                Ok(target) => self.bind("--symlink", &target, path),
                Err(_) if path.is_dir() => self.bind("--ro-bind", path, path),
                Err(_) => {}
            }
        }
        for path in SETTINGS.map(Path::new) {
            self.bind("--ro-bind-try", path, path);
        }
    }

    fn add_environment(&mut self, job: &Job) {
        self.add(&["--clearenv"]);
        let home = format!("{BUILD_DIRECTORY}/home");
        for (name, value) in [("PATH", SEARCH_PATH), ("LANG", "C.UTF-8"), ("HOME", &home), ("TMPDIR", "/tmp")] {
            self.add(&["--setenv", name, value]);
        }
        for (name, value) in &job.environment {
            self.add(&["--setenv", name, value]);
        }
    }

    fn bind(&mut self, option: &str, from: &Path, to: &Path) {
        self.0.extend([OsStr::new(option), from.as_os_str(), to.as_os_str()].map(OsStr::to_owned));
    }
}
