//! Inflates a gzip body in steps.

use std::io::{self, Write};

use flate2::write::GzDecoder;

/// Inflates one gzip stream in constant memory: a step produces about 64 KiB at most, whatever the compression ratio.
pub struct Inflater {
    decoder: GzDecoder<Vec<u8>>,
}

impl Inflater {
    /// An inflater before the first byte of its stream.
    pub fn start() -> Self {
        Self { decoder: GzDecoder::new(Vec::new()) }
    }

    /// Inflates the first part of `input` and returns its length, which is never zero.
    ///
    /// # Errors
    /// When the bytes are not gzip, or follow the end of the stream: git sends exactly one stream.
    pub fn step(&mut self, input: &[u8]) -> io::Result<usize> {
        match self.decoder.write(input)? {
            0 => Err(io::Error::new(io::ErrorKind::InvalidData, "bytes follow the end of the gzip stream")),
            consumed => Ok(consumed),
        }
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// When the stream is incomplete or its checksum is wrong.
    pub fn finish(&mut self) -> io::Result<()> {
        self.decoder.try_finish()
    }

    /// The output of the last call.
    pub fn output(&mut self) -> &[u8] {
        self.decoder.get_ref()
    }

    /// Discards the output of the last call.
    pub fn clear(&mut self) {
        self.decoder.get_mut().clear();
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    /// Bytes of one step: flate2's buffer of 32 KiB, and the remainder of the step before.
    const STEP_BYTES_MAX: usize = 128 * 1024;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).expect("packed bytes");
        encoder.finish().expect("packed bytes")
    }

    /// The inflated bytes, and the largest output of a step.
    fn inflate(input: &[u8], piece: usize) -> io::Result<(Vec<u8>, usize)> {
        let (mut inflater, mut whole, mut most) = (Inflater::start(), Vec::new(), 0);
        let mut take = |inflater: &mut Inflater| {
            most = most.max(inflater.output().len());
            whole.extend_from_slice(inflater.output());
            inflater.clear();
        };
        for mut piece in input.chunks(piece) {
            while !piece.is_empty() {
                let consumed = inflater.step(piece)?;
                take(&mut inflater);
                piece = &piece[consumed..];
            }
        }
        inflater.finish()?;
        take(&mut inflater);
        Ok((whole, most))
    }

    #[test]
    fn a_gzip_bomb_uses_constant_memory() {
        let bomb = gzip(&vec![0; 64 * 1024 * 1024]);
        assert!(bomb.len() < 70_000, "{}", bomb.len());
        let (whole, most) = inflate(&bomb, bomb.len()).expect("gzip");
        assert_eq!(whole.len(), 64 * 1024 * 1024);
        assert!(most <= STEP_BYTES_MAX, "{most}");
    }

    #[test]
    fn anything_but_one_complete_stream_is_refused() {
        let whole = gzip(b"0032want");
        let mut damaged = whole.clone();
        *damaged.last_mut().expect("bytes") ^= 1;
        for input in [&b""[..], b"0032want", &whole[..whole.len() - 1], &[&whole[..], b"x"].concat(), &damaged] {
            assert!(inflate(input, 7).is_err(), "{}", input.escape_ascii());
        }
        assert!(inflate(&[&whole[..], &whole].concat(), 1_000).is_err(), "two streams");
    }

    proptest! {
        #[test]
        fn every_body_is_inflated_whole(body: Vec<u8>, repeated in 1_usize..2_000, piece in 1_usize..5_000) {
            let body = body.repeat(repeated);
            let (whole, most) = inflate(&gzip(&body), piece).expect("gzip");
            prop_assert_eq!(whole, body);
            prop_assert!(most <= STEP_BYTES_MAX);
        }

        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>, cut in 1_usize..100) {
            let after_a_header = [&gzip(b"")[..10], &bytes].concat();
            let _ = (inflate(&bytes, cut), inflate(&after_a_header, cut));
        }
    }
}
