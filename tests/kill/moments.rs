//! The instants of the kills.

use std::time::Duration;

use fastrand::Rng;

#[derive(Clone, Copy, Debug)]
pub enum Moment {
    /// While the clients work, after this time.
    Busy(Duration),
    /// While nothing happens, after this time.
    Quiet(Duration),
    /// Within the start of the server, after this time.
    Start(Duration),
}

/// Longest work before a kill. A publication takes less.
const BUSY_MAX: Duration = Duration::from_millis(1_500);
const QUIET_MAX: Duration = Duration::from_millis(100);

/// Ten kills hit two starts and a quiet server.
pub fn moment(number: u64, start: Duration, rng: &mut Rng) -> Moment {
    let mut within = |time: Duration| time.mul_f64(rng.f64());
    match number % 10 {
        1 | 6 => Moment::Start(within(start)),
        3 => Moment::Quiet(within(QUIET_MAX)),
        _ => Moment::Busy(within(BUSY_MAX)),
    }
}
