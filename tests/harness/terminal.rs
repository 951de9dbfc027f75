//! A pseudo-terminal, for what commands do only on a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;

use nix::pty::{Winsize, openpty};
use parking_lot::Mutex;

use super::{PATIENCE, Process, eventually};

/// A command on a terminal of its own.
pub struct Terminal {
    process: Process,
    keyboard: File,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Terminal {
    pub fn start(command: Command) -> Self {
        Self::of_size(command, None)
    }

    /// A command on a terminal of this size.
    pub fn of_size(mut command: Command, size: Option<Winsize>) -> Self {
        let pty = openpty(size.as_ref(), None).expect("a terminal");
        let end = || Stdio::from(pty.slave.try_clone().expect("a descriptor"));
        command.stdin(end()).stdout(end()).stderr(end());
        let process = Process::start(command);
        drop(pty.slave);
        let keyboard = File::from(pty.master);
        let (mut screen, shown) = (keyboard.try_clone().expect("a descriptor"), Arc::<Mutex<Vec<u8>>>::default());
        let writer = shown.clone();
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The terminal returns an error when its last process ends.
            while let Ok(count) = screen.read(&mut bytes) {
                writer.lock().extend_from_slice(&bytes[..count]);
            }
        });
        Self { process, keyboard, shown, reader }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock()).into_owned()
    }

    /// Waits until the terminal shows a text.
    pub fn shows(&self, text: &str) {
        eventually(&format!("{text:?} on the terminal"), || self.text().contains(text).then_some(()));
    }

    pub fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).expect("typed");
    }

    pub fn signal(&mut self, signal: nix::sys::signal::Signal) {
        self.process.signal(signal);
    }

    /// Waits for the successful end of the command, and returns everything that the terminal shows.
    pub fn shown(mut self) -> String {
        let status = self.process.ended_within(PATIENCE).expect("the command ends");
        self.reader.join().expect("the terminal is read");
        let shown = String::from_utf8_lossy(&self.shown.lock()).into_owned();
        assert!(status.success(), "{shown}");
        shown
    }

    /// Waits for the end of the command.
    pub fn ended(mut self) -> ExitStatus {
        self.process.ended_within(PATIENCE).expect("the command ends")
    }
}
