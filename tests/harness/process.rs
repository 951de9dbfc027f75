//! Servers as processes: started, signalled, waited for, and never left behind.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::LazyLock;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::time::Instant;

type Order = (Command, Sender<io::Result<Child>>);

/// The kernel ends a process with the thread that started it, and test threads are short; this one is not.
static SPAWNER: LazyLock<Sender<Order>> = LazyLock::new(|| {
    let (orders, inbox) = mpsc::channel::<Order>();
    std::thread::spawn(move || {
        for (mut command, answer) in inbox {
            answer.send(command.spawn()).expect("the caller waits");
        }
    });
    orders
});

/// A process with a group of its own, which ends with the tests.
pub struct Process {
    child: Child,
}

impl Process {
    pub fn start(mut command: Command) -> Self {
        command.process_group(0);
        // SAFETY: the closure makes one system call, which is safe between fork and exec.
        unsafe { command.pre_exec(|| Ok(set_pdeathsig(Signal::SIGKILL)?)) };
        let (answer, started) = mpsc::channel();
        SPAWNER.send((command, answer)).expect("the spawner lives");
        Self { child: started.recv().expect("an answer").expect("the server starts") }
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    pub fn signal(&self, signal: Signal) {
        nix::sys::signal::kill(self.group(), signal).expect("the process is there");
    }

    /// The end, or nothing when it does not come in time.
    pub fn ended_within(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                return Some(status);
            }
            if Instant::now() > deadline {
                return None;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills the whole group, and waits for the server.
    pub fn kill(&mut self) -> ExitStatus {
        // A group whose members have all gone needs no signal.
        let _ = killpg(self.group(), Signal::SIGKILL);
        self.child.wait().unwrap_or_else(|_| ExitStatus::from_raw(0))
    }

    fn group(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
