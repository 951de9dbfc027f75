//! Runs a command of git with a text on its standard input.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::error::Error;

/// Time of one command: packing or indexing the default quota on a slow disk.
const TIME_MAX: Duration = Duration::from_secs(600);

/// Runs a command, and returns the text that it prints. Dropping the future ends it.
pub(super) async fn run(mut command: Command, input: String) -> Result<String, Error> {
    let mut child = command.stdin(Stdio::piped()).spawn().map_err(Error::io("start git"))?;
    let stdin = child.stdin.take();
    let write = async move {
        if let Some(mut stdin) = stdin {
            // A command that does not read its input ends with an error.
            stdin.write_all(input.as_bytes()).await.unwrap_or_default();
        }
    };
    let ended = timeout(TIME_MAX, async { tokio::join!(write, child.wait_with_output()).1 }).await;
    let late = |_| Error::Pack { detail: format!("it took more than {} minutes", TIME_MAX.as_secs() / 60) };
    let output = ended.map_err(late)?.map_err(Error::io("run git"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(Error::Pack { detail: String::from_utf8_lossy(&output.stderr).trim_end().to_owned() })
}
