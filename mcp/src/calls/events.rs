//! Events of a run as notifications: status events as progress, log messages from the level that the request names.

#![expect(deprecated, reason = "log messages, which clients of earlier protocol versions ask for")]

use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, NumberOrString, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, Peer, RoleServer};
use runner::{EventSender, LogEvent, RunEvent, StatusEvent};
use serde_json::json;
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

/// Bytes of a progress token, which every notification of a call repeats: a thousand notifications have 256 KiB of it.
const TOKEN_BYTES_MAX: usize = 256;

/// Sends the events of one call, as far as its request asks for them.
pub struct EventRelay {
    peer: Peer<RoleServer>,
    progress: Option<CallProgress>,
    level: Option<LoggingLevel>,
}

/// The progress notifications of a call. Their progress increases with each notification.
struct CallProgress {
    token: ProgressToken,
    last: f64,
}

impl EventRelay {
    /// `session` is the level of the session, which requests of earlier protocol versions do not name.
    ///
    /// # Errors
    /// When the progress token is too long.
    pub fn of(context: &RequestContext<RoleServer>, session: Option<LoggingLevel>) -> Result<Self, ErrorData> {
        let token = context.meta.get_progress_token();
        token.as_ref().map_or(Ok(()), check_token)?;
        let progress = token.map(|token| CallProgress { token, last: -1.0 });
        Ok(Self { peer: context.peer.clone(), progress, level: context.meta.log_level().or(session) })
    }

    /// The sender of the run's events, and the receiver if the request asks for any.
    pub fn open_channel(&self) -> (EventSender, Option<Receiver<RunEvent>>) {
        match (&self.progress, self.level) {
            (None, None) => (EventSender::none(), None),
            _ => {
                let (sender, receiver) = EventSender::channel();
                (sender, Some(receiver))
            }
        }
    }

    /// Sends the events of a run until it has ended, and those that wait then.
    pub async fn send_until(&mut self, ended: &CancellationToken, events: Option<Receiver<RunEvent>>) {
        let Some(mut events) = events else { return };
        loop {
            tokio::select! {
                biased;
                event = events.recv() => match event {
                    Some(event) => self.send(event).await,
                    None => return,
                },
                () = ended.cancelled() => return,
            }
        }
    }

    /// Sends one event. A client that has gone away cancels its call, which ends the events.
    async fn send(&mut self, event: RunEvent) {
        match event {
            RunEvent::Status(event) => {
                if let Some(progress) = &mut self.progress {
                    let _ = self.peer.notify_progress(progress.advance(event)).await;
                }
            }
            RunEvent::Log(event) => {
                let message =
                    self.level.and_then(|least| build_message(event).filter(|one| is_at_least(one.level, least)));
                if let Some(message) = message {
                    let _ = self.peer.notify_logging_message(message).await;
                }
            }
        }
    }
}

impl CallProgress {
    /// An event that does not increase the progress has the least progress above the last one.
    fn advance(&mut self, event: StatusEvent) -> ProgressNotificationParam {
        self.last = increase(self.last, event.progress);
        let mut param = ProgressNotificationParam::new(self.token.clone(), self.last);
        param.total = event.total;
        param.message = Some(event.message).filter(|message| !message.is_empty());
        param
    }
}

fn check_token(token: &ProgressToken) -> Result<(), ErrorData> {
    match &token.0 {
        NumberOrString::String(text) if text.len() > TOKEN_BYTES_MAX => {
            Err(ErrorData::invalid_params(format!("A progress token has at most {TOKEN_BYTES_MAX} bytes."), None))
        }
        _ => Ok(()),
    }
}

fn build_message(event: LogEvent) -> Option<LoggingMessageNotificationParam> {
    let level = serde_json::from_value(json!(event.level)).ok()?;
    let mut message = LoggingMessageNotificationParam::new(level, event.data);
    message.logger = event.logger;
    Some(message)
}

/// Whether a level is as severe as another. The levels are in order, from `debug` to `emergency`.
fn is_at_least(level: LoggingLevel, least: LoggingLevel) -> bool {
    level as u8 >= least as u8
}

fn increase(last: f64, reported: Option<f64>) -> f64 {
    match reported {
        Some(progress) if progress.is_finite() && progress > last => progress,
        None if last.fract() == 0.0 && last.abs() < f64::from(u32::MAX) => last + 1.0,
        _ => last.next_up(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_token_is_bounded() {
        let check = |text: String| check_token(&ProgressToken(NumberOrString::String(text.into())));
        assert!(check("x".repeat(TOKEN_BYTES_MAX)).is_ok());
        assert_eq!(check("x".repeat(TOKEN_BYTES_MAX + 1)).unwrap_err().code.0, -32602);
        assert!(check_token(&ProgressToken(NumberOrString::Number(i64::MAX))).is_ok());
    }

    #[test]
    fn progress_always_increases() {
        let mut last = -1.0;
        for reported in [Some(0.0), Some(50.0), Some(50.0), Some(20.0), None, Some(f64::NAN), Some(100.0), None] {
            let next = increase(last, reported);
            assert!(next > last, "{reported:?} after {last}");
            last = next;
        }
        assert_eq!(increase(-1.0, Some(0.0)), 0.0);
        assert_eq!(increase(2.0, None), 3.0);
    }
}
