//! The session with one worker, from the end of the handshake to the end of the connection.

use std::sync::Arc;
use std::time::Duration;

use runner::{FrameError, FramedSocket};
use tokio::sync::oneshot;

use super::pool::{Assignment, JobOutcome, Pool};
use super::protocol::{BLOB_BYTES_MAX, Bytes, FromWorker, Kind, MESSAGE_BYTES_MAX, OutputMessage, SNAPSHOT_BYTES_MAX};
use super::violation::ProtocolViolation;
use crate::error::Error;
use crate::progress::{BuildProgress, BuildReport};

/// Reports of one job. The log keeps 100 KiB, and cargo prints a line for each of some hundred crates.
const REPORTS_MAX: usize = 10_000;
const REPORT_BYTES_MAX: usize = 4 << 20;

/// The reason for the end of a session.
#[derive(Debug)]
pub enum SessionEnd {
    /// The worker closed the connection, or announced that it leaves.
    Left,
    /// The server cancelled the job.
    Cancelled,
    /// The worker ended during a job or a frame.
    Died(String),
    Violation(ProtocolViolation),
}

impl From<FrameError> for SessionEnd {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::TooLong { .. } | FrameError::Malformed(_) => {
                Self::Violation(ProtocolViolation(error.to_string()))
            }
            FrameError::Cut | FrameError::Socket(_) => Self::Died(error.to_string()),
        }
    }
}

impl From<ProtocolViolation> for SessionEnd {
    fn from(violation: ProtocolViolation) -> Self {
        Self::Violation(violation)
    }
}

impl SessionEnd {
    /// Returns the outcome of the job that the worker was building.
    fn outcome(&self) -> JobOutcome {
        match self {
            Self::Left => JobOutcome::Declined,
            lost => JobOutcome::Lost { reason: lost.reason().to_owned() },
        }
    }

    /// The reason, for the log.
    pub fn reason(&self) -> &str {
        match self {
            Self::Left => "it disconnected",
            Self::Cancelled => "its build was cancelled",
            Self::Died(reason) | Self::Violation(ProtocolViolation(reason)) => reason,
        }
    }
}

/// The outcome of a job. For a job with a result, also the channel through which the verification rejects the result.
type Exchanged = (JobOutcome, Option<oneshot::Receiver<ProtocolViolation>>);

/// A connected worker.
pub struct Session<'a> {
    pub channel: &'a mut FramedSocket,
    pub pool: &'a Arc<Pool>,
}

impl Session<'_> {
    /// Gives the worker one job after the other until the connection ends.
    pub async fn run(&mut self) -> SessionEnd {
        let pool = self.pool;
        let _connected = pool.connect();
        loop {
            let next_job = pool.wait_for_job();
            let assignment = tokio::select! {
                biased;
                received = self.channel.receive(MESSAGE_BYTES_MAX) => return end_without_job(received),
                assignment = next_job => assignment,
            };
            let Ok(assignment) = assignment else { return SessionEnd::Left };
            let _busy = pool.mark_busy();
            if let Err(end) = self.work(assignment).await {
                return end;
            }
        }
    }

    async fn work(&mut self, assignment: Assignment) -> Result<(), SessionEnd> {
        let Assignment { job, progress, mut outcome } = assignment;
        let worked = tokio::select! {
            () = outcome.closed() => return Err(SessionEnd::Cancelled),
            worked = self.exchange(&job, &progress) => worked,
        };
        // The caller continues with the outcome, and must see the end of the reports by then.
        drop(progress);
        let (found, rejection, ended) = match worked {
            Ok((found, rejection)) => (found, rejection, Ok(())),
            Err(end) => (end.outcome(), None, Err(end)),
        };
        // The caller may have gone in this moment.
        drop(outcome.send(found));
        // The worker gets no further job before its result is verified.
        match rejection {
            Some(rejection) => rejection.await.map_or(ended, |violation| Err(violation.into())),
            None => ended,
        }
    }

    /// Sends a job, passes on its reports, and returns its outcome.
    async fn exchange(&mut self, job: &[u8], progress: &BuildProgress) -> Result<Exchanged, SessionEnd> {
        let mut message = self.receive_first(job).await?;
        let mut budget = ReportBudget::default();
        loop {
            match message {
                FromWorker::Report(report) => progress.report(budget.count(report.try_into()?)?),
                FromWorker::Output(made) => {
                    let bytes = self.receive_bytes(&made).await?;
                    let (rejected, rejection) = oneshot::channel();
                    return Ok((JobOutcome::Output(made, bytes, rejected), Some(rejection)));
                }
                FromWorker::Failed(failure) => return Ok((JobOutcome::Failed(Error::try_from(failure)?), None)),
                FromWorker::Leaves if budget.reports == 0 => return Err(SessionEnd::Left),
                FromWorker::Leaves => return Err(ProtocolViolation("it left during a job".into()).into()),
            }
            message = self.receive_message().await?;
        }
    }

    async fn receive_first(&mut self, job: &[u8]) -> Result<FromWorker, SessionEnd> {
        let timeout: Duration = self.pool.timeouts.start;
        let first = async {
            // A worker that does not receive the whole job has not started it.
            self.channel.send(job).await.map_err(|_| SessionEnd::Left)?;
            self.receive_message().await
        };
        let first = tokio::time::timeout(timeout, first).await;
        first.map_err(|_| SessionEnd::Died(format!("it did not start the job within {} s", timeout.as_secs())))?
    }

    async fn receive_message(&mut self) -> Result<FromWorker, SessionEnd> {
        let frame = self.channel.receive(MESSAGE_BYTES_MAX).await?;
        let frame = frame.ok_or_else(|| SessionEnd::Died("its process ended".into()))?;
        Ok(FromWorker::read(&frame)?)
    }

    /// The frames after [`FromWorker::Output`].
    async fn receive_bytes(&mut self, made: &OutputMessage) -> Result<Bytes, SessionEnd> {
        let snapshot = match made.kind {
            Kind::Bundle { has_snapshot: true, .. } => Some(self.receive_frame(SNAPSHOT_BYTES_MAX).await?),
            Kind::Bundle { .. } | Kind::Component => None,
        };
        Ok(Bytes { snapshot, artifact: self.receive_frame(BLOB_BYTES_MAX).await? })
    }

    async fn receive_frame(&mut self, bytes_max: usize) -> Result<Vec<u8>, SessionEnd> {
        let frame = self.channel.receive(bytes_max).await?;
        frame.ok_or_else(|| SessionEnd::Died("it ended before it had sent the component".into()))
    }
}

/// Returns the end of a session without a job. A worker without a job may leave, and may send nothing else.
fn end_without_job(received: Result<Option<Vec<u8>>, FrameError>) -> SessionEnd {
    match received.map(|frame| frame.as_deref().map(FromWorker::read)) {
        Ok(None | Some(Ok(FromWorker::Leaves))) => SessionEnd::Left,
        Ok(Some(Ok(_))) => ProtocolViolation("it sent a message about a job that it does not have".into()).into(),
        Ok(Some(Err(violation))) => violation.into(),
        Err(error) => error.into(),
    }
}

/// The number and size of one job's reports so far.
#[derive(Default)]
struct ReportBudget {
    reports: usize,
    bytes: usize,
}

impl ReportBudget {
    fn count(&mut self, report: BuildReport) -> Result<BuildReport, ProtocolViolation> {
        self.reports += 1;
        self.bytes += match &report {
            BuildReport::Line { line } => line.len(),
            BuildReport::Ended { failure, .. } => failure.as_ref().map_or(0, String::len),
            BuildReport::Started { .. } => 0,
        };
        let is_within = self.reports <= REPORTS_MAX && self.bytes <= REPORT_BYTES_MAX;
        if is_within { Ok(report) } else { Err(ProtocolViolation("it sent more reports than any build".into())) }
    }
}
