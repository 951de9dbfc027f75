//! The encoding of the content of an artifact: text, or bytes in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Failure, invalid};

const PDF: &str = "application/pdf";
/// The bytes with which a PDF file begins.
const PDF_MARK: &[u8] = b"%PDF-";
/// The beginnings of media types whose contents are no text.
const BYTES: [&str; 9] = [
    "application/msword",
    "application/octet-stream",
    PDF,
    "application/vnd.ms-",
    "application/vnd.openxmlformats-",
    "application/zip",
    "audio/",
    "font/",
    "video/",
];
const IMAGES: &str = "image/";
/// The image that is text.
const SVG: &str = "image/svg+xml";

/// How the content of an artifact is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArtifactEncoding {
    /// Text, whose file has it as UTF-8.
    #[default]
    Text,
    /// Bytes in base64 with padding.
    Base64,
}

impl ArtifactEncoding {
    /// The encoding with a name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        if name == "base64" { Self::Base64 } else { Self::Text }
    }

    /// The bytes of the file. A content that was checked when it was saved is valid.
    #[must_use]
    pub fn decode(self, content: String) -> Vec<u8> {
        match self {
            Self::Text => content.into_bytes(),
            Self::Base64 => STANDARD.decode(&content).unwrap_or_else(|_| content.into_bytes()),
        }
    }

    /// Refuses a content that is not in this encoding, and bytes that are not a file of the media type.
    pub(super) fn check(self, content: &str, content_type: &str) -> Result<(), Failure> {
        if self == Self::Text {
            return Ok(());
        }
        let refuse = |reason: &str| Err(invalid(format!("content: {reason}")));
        let Ok(bytes) = STANDARD.decode(content) else {
            return refuse("is not base64 with padding and without line breaks, which content_encoding says");
        };
        if bytes.is_empty() {
            return refuse("is empty");
        }
        if extract_essence(content_type) == PDF && !bytes.starts_with(PDF_MARK) {
            return refuse("is no PDF file: its bytes do not begin with %PDF-, and content_type says application/pdf");
        }
        Ok(())
    }

    /// What is most likely wrong with an artifact that was saved.
    pub(super) fn find_warning(self, artifact_type: &str, content_type: &str) -> Option<String> {
        let content_type = extract_essence(content_type);
        if artifact_type.eq_ignore_ascii_case("pdf") && content_type != PDF {
            return Some(format!(
                "content_type: an artifact of the type pdf is saved as {content_type}, which is what its readers get; a PDF file is \
                {PDF}, with its bytes in base64 and content_encoding base64"
            ));
        }
        let has_bytes = BYTES.iter().any(|of| content_type.starts_with(of))
            || content_type.starts_with(IMAGES) && content_type != SVG;
        (self == Self::Text && has_bytes).then(|| {
            format!(
                "content_encoding: the content is saved as text, and a file of {content_type} has bytes: write them in base64, with \
                content_encoding base64"
            )
        })
    }
}

/// The media type without its parameters, in small letters.
fn extract_essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_what_the_media_type_says() {
        let pdf = STANDARD.encode("%PDF-1.7\n\u{0}");
        let check = |content: &str, of: &str| ArtifactEncoding::Base64.check(content, of).is_ok();
        assert!(check(&pdf, "application/pdf") && check("AAE=", "image/png"));
        for (content, of) in
            [("AAE", "image/png"), ("AA\nE=", "image/png"), ("# x", "text/plain"), ("AAE=", "Application/PDF; x=y")]
        {
            assert!(!check(content, of), "{content} {of}");
        }
        assert_eq!(ArtifactEncoding::Base64.decode("AAE=".into()), [0, 1]);
        assert_eq!(ArtifactEncoding::Text.decode("AAE=".into()), b"AAE=");
    }

    #[test]
    fn text_of_a_file_with_bytes_has_a_warning() {
        let warning =
            |encoding: ArtifactEncoding, [of, media]: [&str; 2]| encoding.find_warning(of, media).unwrap_or_default();
        assert!(warning(ArtifactEncoding::Text, ["pdf", "text/markdown"]).contains("content_type: "));
        assert!(warning(ArtifactEncoding::Text, ["pdf", "application/pdf"]).contains("content_encoding: "));
        assert!(warning(ArtifactEncoding::Text, ["x", "image/PNG"]).contains("content_encoding: "));
        for quiet in [["report", "text/markdown"], ["x", "image/svg+xml"], ["x", "application/json"]] {
            assert_eq!(warning(ArtifactEncoding::Text, quiet), "", "{quiet:?}");
        }
        assert_eq!(warning(ArtifactEncoding::Base64, ["pdf", "application/pdf"]), "");
    }
}
