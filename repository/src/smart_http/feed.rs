//! Copies a request's body to git: inflates gzip, and bounds the inflated bytes.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::inflate::Inflater;
use super::request::BodyForm;
use crate::error::Error;

/// Time without a byte of the body. The HTTP server has a shorter timeout and answers the client; this one is for callers
/// without it.
const BODY_SILENCE_MAX: Duration = Duration::from_secs(60);
/// Bytes of one read.
const BUFFER_BYTES: usize = 64 * 1024;

/// git's input, with the bytes of the body so far and their bound.
struct Sink<W> {
    /// `None` after git has closed its input, since it needs no more.
    input: Option<W>,
    bytes: u64,
    bytes_max: u64,
}

/// Copies the body to git, up to the body's end. What follows after git has closed its input is read and discarded, so
/// that the response does not depend on how early git closes it.
///
/// # Errors
/// When the body ends early, stalls, is too long, or is not in the form that its headers declare. The caller must then
/// stop git, which has received a part of the body.
pub(super) async fn feed(
    body: impl AsyncRead + Unpin,
    input: impl AsyncWrite + Unpin,
    form: BodyForm,
) -> Result<(), Error> {
    let sink = Sink { input: Some(input), bytes: 0, bytes_max: form.bytes_max };
    if form.is_gzip { inflate(body, sink).await } else { copy(body, sink).await }
}

async fn copy(mut body: impl AsyncRead + Unpin, mut sink: Sink<impl AsyncWrite + Unpin>) -> Result<(), Error> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match read(&mut body, &mut buffer).await? {
            0 => return Ok(()),
            bytes => sink.write(&buffer[..bytes]).await?,
        }
    }
}

/// Copies and inflates the body, on threads for blocking work. The compressed bytes have the same bound as the inflated
/// ones, so that a stream without output ends.
async fn inflate(mut body: impl AsyncRead + Unpin, mut sink: Sink<impl AsyncWrite + Unpin>) -> Result<(), Error> {
    let not_gzip = |error: std::io::Error| Error::BodyNotGzip { detail: error.to_string() };
    let (mut inflater, mut buffer, mut received) = (Inflater::start(), vec![0; BUFFER_BYTES], 0);
    loop {
        let bytes = read(&mut body, &mut buffer).await?;
        if bytes == 0 {
            inflater.finish().map_err(not_gzip)?;
            return sink.write(inflater.output()).await;
        }
        received += bytes as u64;
        sink.check(received)?;
        let mut at = 0;
        while at < bytes {
            let step = move || {
                let consumed = inflater.step(&buffer[at..bytes]);
                (inflater, buffer, consumed)
            };
            let consumed;
            (inflater, buffer, consumed) = spawn_blocking(step).await.map_err(|_| Error::BodyCutOff)?;
            at += consumed.map_err(not_gzip)?;
            sink.write(inflater.output()).await?;
            inflater.clear();
        }
    }
}

async fn read(body: &mut (impl AsyncRead + Unpin), buffer: &mut [u8]) -> Result<usize, Error> {
    match timeout(BODY_SILENCE_MAX, body.read(buffer)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) | Err(_) => Err(Error::BodyCutOff),
    }
}

impl<W: AsyncWrite + Unpin> Sink<W> {
    async fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.bytes += bytes.len() as u64;
        self.check(self.bytes)?;
        if let Some(input) = &mut self.input
            && input.write_all(bytes).await.is_err()
        {
            self.input = None;
        }
        Ok(())
    }

    fn check(&self, bytes: u64) -> Result<(), Error> {
        let bytes_max = self.bytes_max;
        if bytes > bytes_max { Err(Error::BodyTooLarge { bytes_max }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).expect("packed bytes");
        encoder.finish().expect("packed bytes")
    }

    async fn feed_body(body: &[u8], is_gzip: bool, bytes_max: u64) -> (Vec<u8>, Result<(), Error>) {
        let mut input = Vec::new();
        let result = feed(body, &mut input, BodyForm { is_gzip, bytes_max }).await;
        (input, result)
    }

    #[tokio::test]
    async fn a_body_up_to_its_bound_reaches_git_whole() {
        let body = vec![7; 300_000];
        for (sent, is_gzip) in [(body.clone(), false), (gzip(&body), true)] {
            let (received, result) = feed_body(&sent, is_gzip, 300_000).await;
            result.expect("fed");
            assert_eq!(received, body);
        }
    }

    #[tokio::test]
    async fn git_receives_no_byte_beyond_the_bound() {
        let body = vec![0; 10_000_000];
        for (sent, is_gzip) in [(body.clone(), false), (gzip(&body), true)] {
            let (received, result) = feed_body(&sent, is_gzip, 300_000).await;
            assert!(matches!(result, Err(Error::BodyTooLarge { bytes_max: 300_000 })), "{result:?}");
            assert!(received.len() <= 300_000, "{}", received.len());
        }
    }

    #[tokio::test]
    async fn a_body_beyond_the_bound_is_refused_after_git_has_closed_its_input() {
        let body = vec![0; 10_000_000];
        for (sent, is_gzip) in [(body.clone(), false), (gzip(&body), true)] {
            let (closed, _) = tokio::io::duplex(64);
            let result = feed(&sent[..], closed, BodyForm { is_gzip, bytes_max: 300_000 }).await;
            assert!(matches!(result, Err(Error::BodyTooLarge { .. })), "{result:?}");
        }
    }

    #[tokio::test]
    async fn compressed_bytes_without_output_are_counted() {
        // Empty stored blocks: five bytes each, and no output.
        let endless = [&gzip(b"")[..10], &[0, 0, 0, 0xff, 0xff].repeat(100_000)].concat();
        let (received, result) = feed_body(&endless, true, 300_000).await;
        assert!(received.is_empty() && matches!(result, Err(Error::BodyTooLarge { .. })), "{result:?}");
    }

    #[tokio::test]
    async fn a_body_that_is_not_gzip_is_refused() {
        for body in [&b"0000"[..], b"", &gzip(b"0000")[..12]] {
            let (_, result) = feed_body(body, true, 300_000).await;
            assert!(matches!(result, Err(Error::BodyNotGzip { .. })), "{result:?}");
        }
    }
}
