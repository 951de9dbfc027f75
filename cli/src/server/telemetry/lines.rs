//! Where the log's lines go: straight to their place, unless they follow so closely that a write for each would cost much
//! of what it tells of. Then they are gathered, and written together a few milliseconds later.
//!
//! A warning or an error is written at once, and before it all that was gathered.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, mpsc};
use std::thread::{self, Thread};
use std::time::Duration;

use tokio::time::Instant;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// Lines this close to the one before are a crowd.
const CROWD: Duration = Duration::from_millis(1);
/// So long a crowd is gathered.
const GATHERING: Duration = Duration::from_millis(5);
/// Who makes it more writes all of it.
const BYTES_MAX: usize = 256 << 10;

/// Clones are one.
#[derive(Clone)]
pub(super) struct Lines(Arc<Shared>);

struct Shared {
    gathered: Mutex<Gathered>,
    output: Mutex<Output>,
    thread: Thread,
}

#[derive(Default)]
struct Gathered {
    bytes: Vec<u8>,
    last: Option<Instant>,
}

struct Output {
    place: Box<dyn Write + Send>,
    /// What is being written; its memory is used again.
    bytes: Vec<u8>,
}

/// Takes the line of one event.
pub(super) struct Line<'l> {
    lines: &'l Shared,
    is_urgent: bool,
}

impl Lines {
    /// Starts the thread that writes what was gathered.
    pub fn start(place: impl Write + Send + 'static) -> io::Result<Self> {
        let (tell, told) = mpsc::channel();
        let named = thread::Builder::new().name("log".to_owned());
        let thread = named.spawn(move || told.recv().map(write_all))?.thread().clone();
        let output = Mutex::new(Output { place: Box::new(place), bytes: Vec::new() });
        let lines = Self(Arc::new(Shared { gathered: Mutex::default(), output, thread }));
        // The thread is waiting for it.
        drop(tell.send(Arc::downgrade(&lines.0)));
        Ok(lines)
    }

    /// Writes what was gathered.
    pub fn flush(&self) {
        self.0.write();
    }
}

/// Whenever somebody wakes it, until nobody has the lines any more.
fn write_all(lines: Weak<Shared>) {
    loop {
        thread::park();
        thread::sleep(GATHERING);
        match lines.upgrade() {
            Some(lines) => lines.write(),
            None => return,
        }
    }
}

impl Shared {
    fn take(&self, line: &[u8], is_urgent: bool) {
        let now = Instant::now();
        let mut gathered = self.gathered();
        let is_crowd = gathered.last.replace(now).is_some_and(|last| now.duration_since(last) < CROWD);
        let is_first = gathered.bytes.is_empty();
        gathered.bytes.extend_from_slice(line);
        let has_room = gathered.bytes.len() < BYTES_MAX;
        drop(gathered);
        if is_urgent || !has_room || (is_first && !is_crowd) {
            self.write();
        } else if is_first {
            self.thread.unpark();
        }
    }

    fn write(&self) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let Output { place, bytes } = &mut *output;
        mem::swap(&mut self.gathered().bytes, bytes);
        // That it failed could only be said here.
        drop(place.write_all(bytes));
        bytes.clear();
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.write();
        self.thread.unpark();
    }
}

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.lines.take(line, self.is_urgent);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lines.write();
        Ok(())
    }
}

impl<'l> MakeWriter<'l> for Lines {
    type Writer = Line<'l>;

    fn make_writer(&'l self) -> Line<'l> {
        Line { lines: &self.0, is_urgent: true }
    }

    fn make_writer_for(&'l self, event: &Metadata<'_>) -> Line<'l> {
        Line { lines: &self.0, is_urgent: *event.level() <= Level::WARN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was written, write by write.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<String>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if !bytes.is_empty() {
                self.0.lock().unwrap().push(String::from_utf8(bytes.to_vec()).unwrap());
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Written {
        fn all(&self) -> Vec<String> {
            self.0.lock().unwrap().clone()
        }

        fn becomes(&self, expected: &str) {
            let end = Instant::now() + Duration::from_secs(10);
            while self.all().concat() != expected {
                assert!(Instant::now() < end, "{:?} where {expected:?} was to be", self.all());
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    #[test]
    fn a_line_alone_is_there_at_once() {
        let written = Written::default();
        let lines = Lines::start(written.clone()).unwrap();
        for count in 1..=3 {
            lines.0.take(b"one\n", false);
            assert_eq!(written.all().len(), count);
            thread::sleep(2 * CROWD);
        }
    }

    #[test]
    fn a_crowd_is_written_together_and_in_its_order() {
        let written = Written::default();
        let lines = Lines::start(written.clone()).unwrap();
        let all: Vec<_> = (0..500).map(|number| format!("{number}\n")).collect();
        all.iter().for_each(|line| lines.0.take(line.as_bytes(), false));
        written.becomes(&all.concat());
        assert!(written.all().len() < 100, "{} writes", written.all().len());
    }

    #[test]
    fn what_is_urgent_is_there_at_once_behind_what_came_before() {
        let written = Written::default();
        let lines = Lines::start(written.clone()).unwrap();
        ["a", "b", "c"].iter().for_each(|line| lines.0.take(line.as_bytes(), false));
        lines.0.take(b"!", true);
        assert_eq!(written.all().concat(), "abc!");
        lines.0.take(b"d", false);
        lines.flush();
        assert_eq!(written.all().concat(), "abc!d");
        lines.0.take(b"e", false);
        drop(lines);
        assert_eq!(written.all().concat(), "abc!de");
    }

    #[test]
    fn what_is_gathered_is_bounded() {
        let written = Written::default();
        let lines = Lines::start(written.clone()).unwrap();
        let line = [b'x'; BYTES_MAX / 4];
        (0..16).for_each(|_| lines.0.take(&line, false));
        assert!(lines.0.gathered().bytes.len() < BYTES_MAX);
        assert!(written.all().concat().len() >= 3 * BYTES_MAX);
    }
}
