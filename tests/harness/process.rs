//! Child processes: start, signal, wait. None survives the tests.

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

/// Starts processes in a thread that lives as long as the tests: the kernel kills a child when the thread that started
/// it ends.
static SPAWNER: LazyLock<Sender<Order>> = LazyLock::new(|| {
    let (orders, inbox) = mpsc::channel::<Order>();
    std::thread::spawn(move || {
        for (mut command, answer) in inbox {
            answer.send(command.spawn()).expect("the caller waits");
        }
    });
    orders
});

/// A process with its own process group, which is killed at the end of the tests.
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

    /// Returns the exit status, or `None` when the process does not end in time.
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

    /// Kills the process group and waits for the process.
    pub fn kill(&mut self) -> ExitStatus {
        // An empty group needs no signal.
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
