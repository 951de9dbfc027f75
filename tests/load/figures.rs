//! Sorted durations of calls.

use std::time::Duration;

pub struct Figures(Vec<Duration>);

impl FromIterator<Duration> for Figures {
    fn from_iter<I: IntoIterator<Item = Duration>>(times: I) -> Self {
        let mut times: Vec<_> = times.into_iter().collect();
        assert!(!times.is_empty(), "no time for a single call");
        times.sort_unstable();
        Self(times)
    }
}

impl Figures {
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// In milliseconds.
    pub fn p50(&self) -> f64 {
        self.at(50)
    }

    pub fn print(&self, what: &str) {
        println!("{what:<40}{:>10.3}{:>10.3}{:>10} calls", self.p50(), self.at(99), self.count());
    }

    fn at(&self, hundredth: usize) -> f64 {
        let place = (self.0.len() * hundredth / 100).min(self.0.len() - 1);
        self.0[place].as_secs_f64() * 1e3
    }
}
