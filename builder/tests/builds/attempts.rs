//! Attacks of build scripts, run by this program in the sandbox, and outside of it for comparison.

use std::env;
use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use builder::sandbox::ReadOnlyMount;
use nix::errno::Errno;
use nix::libc;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::ptrace;
use nix::sys::signal::kill;
use nix::unistd::{Pid, setuid};

use crate::machine::{Machine, own, script};

/// The variable that marks a job; its value is an address of the machine outside.
const TARGET: &str = "TARGET";
/// The variable with the path of a file of the server.
const PRIVATE: &str = "PRIVATE";
const NAME: &str = "attempts::all_attempts_as_a_job";

type Attempt = (&'static str, fn(&str) -> io::Result<()>);

const NETWORK: [Attempt; 6] = [
    ("connect to this machine", |target| TcpStream::connect(target).map(drop)),
    ("connect to the internet", |_| TcpStream::connect("1.1.1.1:443").map(drop)),
    ("send a datagram", |target| UdpSocket::bind("127.0.0.1:0")?.send_to(b"x", target).map(drop)),
    ("ask for an address", |_| "example.com:443".to_socket_addrs().map(drop)),
    ("connect to a socket without a file", |target| {
        UnixStream::connect_addr(&SocketAddr::from_abstract_name(target)?).map(drop)
    }),
    ("open a raw socket", |_| call(libc::SYS_socket, [libc::AF_PACKET.into(), libc::SOCK_RAW.into(), 0])),
];

const OTHERS: [Attempt; 7] = [
    ("trace a process", |_| Ok(ptrace::attach(Pid::from_raw(1))?)),
    ("be traced", |_| Ok(ptrace::traceme()?)),
    ("read the environment of the first process", |_| match fs::read("/proc/1/environ")? {
        environment if environment.is_empty() => Err(io::ErrorKind::NotFound.into()),
        _ => Ok(()),
    }),
    ("signal the server", |_| {
        let pid: i32 = env::var("SERVER").map_err(io::Error::other)?.parse().map_err(io::Error::other)?;
        Ok(kill(Pid::from_raw(pid), None)?)
    }),
    ("read the passwords", |_| fs::read("/etc/shadow").map(drop)),
    ("read a file of the server", |_| fs::read(env::var(PRIVATE).map_err(io::Error::other)?).map(drop)),
    ("write to the machine's memory", |_| fs::OpenOptions::new().write(true).open("/dev/mem").map(drop)),
];

const KERNEL: [Attempt; 17] = [
    ("become root", |_| Ok(setuid(0.into())?)),
    ("mount", |_| Ok(mount(Some("tmpfs"), "/tmp", Some("tmpfs"), MsFlags::empty(), None::<&str>)?)),
    ("remount what is read-only", |_| {
        Ok(mount(None::<&str>, "/usr", None::<&str>, MsFlags::MS_REMOUNT | MsFlags::MS_BIND, None::<&str>)?)
    }),
    ("unmount", |_| Ok(umount2("/proc", MntFlags::MNT_DETACH)?)),
    ("change its root", |_| Ok(nix::unistd::chroot("/build")?)),
    ("make a user namespace", |_| Ok(unshare(CloneFlags::CLONE_NEWUSER)?)),
    ("enter a namespace", |_| Ok(setns(fs::File::open("/proc/1/ns/mnt")?, CloneFlags::empty())?)),
    ("load a module", |_| call(libc::SYS_init_module, [0, 0, 0])),
    ("load a program into the kernel", |_| call(libc::SYS_bpf, [0, 0, 0])),
    ("count events", |_| call(libc::SYS_perf_event_open, [0, 0, -1])),
    ("handle page faults", |_| call(libc::SYS_userfaultfd, [0, 0, 0])),
    ("use keys", |_| call(libc::SYS_keyctl, [0, -3, 0])),
    ("set up an io_uring", |_| call(libc::SYS_io_uring_setup, [1, 0, 0])),
    ("make an anonymous file", |_| call(libc::SYS_memfd_create, [c"x".as_ptr() as i64, 0, 0])),
    ("make persistent shared memory", |_| call(libc::SYS_shmget, [0, 4096, 0o1600])),
    ("use the second table of system calls", |_| call(0x4000_0000 | libc::SYS_getpid, [0, 0, 0])),
    ("use an unknown system call", |_| call(463, [0, 0, 0])),
];

fn call(number: i64, [one, two, three]: [i64; 3]) -> io::Result<()> {
    // SAFETY: the only address among the arguments is that of a constant; the kernel checks the others.
    Ok(Errno::result(unsafe { libc::syscall(number, one, two, three) }).map(drop)?)
}

/// Prints the result of each attempt, when it runs as a job.
#[test]
fn all_attempts_as_a_job() {
    let Ok(target) = env::var(TARGET) else { return };
    println!();
    for (name, attempt) in NETWORK.iter().chain(&OTHERS).chain(&KERNEL) {
        match attempt(&target) {
            Ok(()) => println!("REACHED {name}"),
            Err(error) => println!("refused {name}: {error}"),
        }
    }
}

#[tokio::test]
async fn every_attempt_of_a_build_script_fails() {
    let Some(machine) = Machine::here().await else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    listener.set_nonblocking(true).expect("an option");
    let target = listener.local_addr().expect("an address").to_string();
    let unnamed = SocketAddr::from_abstract_name(&target).and_then(|name| UnixListener::bind_addr(&name));
    let unnamed = unnamed.expect("a listener");
    unnamed.set_nonblocking(true).expect("an option");
    let private = tempfile::NamedTempFile::new().expect("a file");
    let path = private.path().to_str().expect("a plain path");
    let server = std::process::id().to_string();
    let (ended, log) = machine.run(own(NAME, &[(TARGET, &target), (PRIVATE, path), ("SERVER", &server)])).await;
    ended.expect("the attempts finish");
    println!("{log}");
    assert!(!log.contains("REACHED"), "{log}");
    let refused = log.lines().filter(|line| line.starts_with("refused ")).count();
    assert_eq!(refused, NETWORK.len() + OTHERS.len() + KERNEL.len(), "{log}");
    assert!(listener.accept().is_err() && unnamed.accept().is_err(), "somebody connected");
}

/// The attempts succeed outside of the sandbox, as far as this user may do them.
#[test]
fn the_same_attempts_succeed_outside() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let target = listener.local_addr().expect("an address").to_string();
    let name = SocketAddr::from_abstract_name(&target).expect("a name");
    let _unnamed = UnixListener::bind_addr(&name).expect("a listener");
    for wanted in ["connect to this machine", "send a datagram", "connect to a socket without a file"] {
        let (_, attempt) = NETWORK.iter().find(|(name, _)| *name == wanted).expect("an attempt");
        attempt(&target).unwrap_or_else(|error| panic!("{wanted}: {error}"));
    }
    let (_, attempt) = KERNEL.iter().find(|(name, _)| *name == "make an anonymous file").expect("an attempt");
    attempt(&target).expect("a file");
}

#[tokio::test]
async fn the_first_process_inside_is_confined() {
    let Some(machine) = Machine::here().await else { return };
    let shown = ReadOnlyMount::new("/usr", "/shown");
    let job = script("grep -E '^(Seccomp|NoNewPrivs|CapEff|CapBnd|Uid):' /proc/1/status; ls /proc/1/fd | wc -l");
    let (ended, log) = machine.run(builder::sandbox::Job { read_only: vec![shown], ..job }).await;
    ended.expect("it looks");
    let log: Vec<String> = log.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for wanted in ["Seccomp: 2", "NoNewPrivs: 1", "CapEff: 0000000000000000", "CapBnd: 0000000000000000"] {
        assert!(log.iter().any(|line| line == wanted), "{wanted}: {log:?}");
    }
    assert!(log.iter().any(|line| line == "Uid: 1000 1000 1000 1000"), "{log:?}");
}
