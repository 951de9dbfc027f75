//! The replay gate of a publication or of a branch test.

use api_kit::extract::{Decoder, Fields, Object, WholeNumber};
use builder::ReplayGate;
use registry::Permission;

/// Runs per gate. More take minutes.
const RUNS_MAX: i64 = 1_000;
/// Maximum of `slower_percent_max`. 10,000 percent allow a run a hundred times as long.
const SLOWER_PERCENT_MAX: i64 = 10_000;

/// The permissions that a gate needs: it reads runs and repeats them with their inputs.
pub(super) const GATE_PERMISSIONS: [Permission; 2] = [Permission::GetInvocation, Permission::InvokeTool];

/// Decoder of `gate`.
pub(super) fn replay_gate() -> impl Decoder<Value = ReplayGate> {
    Object(read).described(
        "Replays the last recorded runs of the highest live version, offline, from their recordings. The candidate must \
        behave as these runs did; otherwise `build_failed` names the runs that differ. The build log has the whole report.",
    )
}

fn read(fields: &mut Fields) -> Option<ReplayGate> {
    let runs_max = fields.read_required("replay", WholeNumber(1..=RUNS_MAX).described("Runs to replay, at most."));
    let different_percent_max = fields.read_optional(
        "different_percent_max",
        WholeNumber(0..=100)
            .described("Maximum percentage of replayed runs whose outcome or effects differ.")
            .with_default(0),
    );
    let slower_percent_max = fields.read_optional(
        "slower_percent_max",
        WholeNumber(0..=SLOWER_PERCENT_MAX).described(
            "Maximum percentage by which the computing time of all runs together may grow. Unlimited when absent.",
        ),
    );
    Some(ReplayGate {
        runs_max: u32::try_from(runs_max?).ok()?,
        different_percent_max: u32::try_from(different_percent_max.unwrap_or(0)).ok()?,
        slower_percent_max: slower_percent_max.and_then(|percent| u32::try_from(percent).ok()),
    })
}
