//! The conversation with one worker, from its welcome to its end.

use std::sync::Arc;
use std::time::Duration;

use super::channel::{Channel, ChannelError};
use super::pool::{Answer, Assignment, Pool};
use super::wire::{BLOB_BYTES_MAX, Breach, Bytes, FromWorker, Kind, MESSAGE_BYTES_MAX, Made, SNAPSHOT_BYTES_MAX};
use crate::error::Error;
use crate::progress::{Progress, Told};

/// Of one job. A log of 100 KiB is kept, and cargo prints a line for each of some hundred crates.
const REPORTS_MAX: usize = 10_000;
const REPORT_BYTES_MAX: usize = 4 << 20;

/// Why a conversation is over.
#[derive(Debug)]
pub enum End {
    /// It closed the connection, or said that it leaves.
    Left,
    /// Nobody waits for its answer any more.
    Unwanted,
    /// It ended in the midst of a job, or of a frame.
    Died(String),
    Breach(Breach),
}

impl From<ChannelError> for End {
    fn from(error: ChannelError) -> Self {
        match error {
            ChannelError::TooLong { .. } => Self::Breach(Breach(error.to_string())),
            ChannelError::Cut | ChannelError::Socket(_) => Self::Died(error.to_string()),
        }
    }
}

impl From<Breach> for End {
    fn from(breach: Breach) -> Self {
        Self::Breach(breach)
    }
}

impl End {
    /// What it means for the job that it was given.
    fn answer(&self) -> Answer {
        match self {
            Self::Left => Answer::Declined,
            lost => Answer::Lost { reason: lost.reason().to_owned() },
        }
    }

    /// For the log.
    pub fn reason(&self) -> &str {
        match self {
            Self::Left => "it left",
            Self::Unwanted => "its build was given up",
            Self::Died(reason) | Self::Breach(Breach(reason)) => reason,
        }
    }
}

/// Gives a worker one job after the other.
pub async fn attend(channel: &mut Channel, pool: &Arc<Pool>) -> End {
    let _connected = pool.connect();
    loop {
        let offered = pool.offer();
        let assignment = tokio::select! {
            biased;
            said = channel.receive(MESSAGE_BYTES_MAX) => return out_of_turn(said),
            assignment = offered => assignment,
        };
        let Ok(assignment) = assignment else { return End::Left };
        let _busy = pool.busy();
        if let Err(end) = work(channel, assignment, pool.patience.begun).await {
            return end;
        }
    }
}

/// One that has no job may leave, and has nothing else to say.
fn out_of_turn(said: Result<Option<Vec<u8>>, ChannelError>) -> End {
    match said.map(|frame| frame.as_deref().map(FromWorker::read)) {
        Ok(None | Some(Ok(FromWorker::Leaves))) => End::Left,
        Ok(Some(Ok(_))) => Breach("it speaks of a job and has none".into()).into(),
        Ok(Some(Err(breach))) => breach.into(),
        Err(error) => error.into(),
    }
}

async fn work(channel: &mut Channel, assignment: Assignment, begun: Duration) -> Result<(), End> {
    let Assignment { job, progress, mut answer } = assignment;
    let worked = tokio::select! {
        () = answer.closed() => return Err(End::Unwanted),
        worked = converse(channel, &job, &progress, begun) => worked,
    };
    // The caller goes on as soon as it has the answer, and the end of its reports must be seen by then.
    drop(progress);
    let (answered, ended) = match worked {
        Ok(answered) => (answered, Ok(())),
        Err(end) => (end.answer(), Err(end)),
    };
    // Whoever waited may have gone this moment.
    drop(answer.send(answered));
    ended
}

async fn converse(channel: &mut Channel, job: &[u8], progress: &Progress, begun: Duration) -> Result<Answer, End> {
    let beginning = async {
        // One that does not take all of it has begun nothing.
        channel.send(job).await.map_err(|_| End::Left)?;
        next(channel).await
    };
    let first = tokio::time::timeout(begun, beginning).await;
    let mut said = first.map_err(|_| End::Died(format!("it did not begin within {} s", begun.as_secs())))??;
    let mut heard = Heard::default();
    loop {
        match said {
            FromWorker::Told(report) => progress.tell(heard.count(report.try_into()?)?),
            FromWorker::Made(made) => {
                let bytes = behind(&made, channel).await?;
                return Ok(Answer::Made(made, bytes));
            }
            FromWorker::Failed(failure) => return Ok(Answer::Failed(Error::try_from(failure)?)),
            FromWorker::Leaves if heard.reports == 0 => return Err(End::Left),
            FromWorker::Leaves => return Err(Breach("it leaves in the midst of a job".into()).into()),
        }
        said = next(channel).await?;
    }
}

async fn behind(made: &Made, channel: &mut Channel) -> Result<Bytes, End> {
    let mut frame = async |bytes_max| {
        let bytes = channel.receive(bytes_max).await?;
        bytes.ok_or_else(|| End::Died("it ended before what it made".into()))
    };
    let snapshot = match made.kind {
        Kind::Bundle { has_snapshot: true, .. } => Some(frame(SNAPSHOT_BYTES_MAX).await?),
        Kind::Bundle { .. } | Kind::Component => None,
    };
    Ok(Bytes { snapshot, artefact: frame(BLOB_BYTES_MAX).await? })
}

async fn next(channel: &mut Channel) -> Result<FromWorker, End> {
    let frame = channel.receive(MESSAGE_BYTES_MAX).await?;
    let frame = frame.ok_or_else(|| End::Died("its process ended".into()))?;
    Ok(FromWorker::read(&frame)?)
}

/// The reports of one job.
#[derive(Default)]
struct Heard {
    reports: usize,
    bytes: usize,
}

impl Heard {
    fn count(&mut self, told: Told) -> Result<Told, Breach> {
        self.reports += 1;
        self.bytes += match &told {
            Told::Line { line } => line.len(),
            Told::Ended { failure, .. } => failure.as_ref().map_or(0, String::len),
            Told::Started { .. } => 0,
        };
        let is_within = self.reports <= REPORTS_MAX && self.bytes <= REPORT_BYTES_MAX;
        if is_within { Ok(told) } else { Err(Breach("it reports more than any build".into())) }
    }
}
