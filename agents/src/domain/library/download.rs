//! Downloads: the content of an artifact, for everyone who has the link, for a while. Links to public artifacts work longer.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use registry::{LibraryItemId, OrganizationId, Timestamp, made_of, text_type};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// Time for which a link works, unless its artifact is public.
pub(crate) const LIFETIME: Duration = Duration::from_mins(15);

text_type! {
    /// The last part of a link. It names an artifact and a time, and is signed with a key of the installation. Other texts lead nowhere.
    DownloadToken = "download", "must be 1 to 512 printable characters of ASCII", |text| {
        made_of(text, 512, |c| matches!(c, ' '..='~'))
    };
}

/// The artifact of a link, and the end of the link, which counts unless the artifact is public.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Download {
    pub organization: OrganizationId,
    pub item: LibraryItemId,
    pub expires_at: Timestamp,
}

impl Download {
    pub fn sign(&self, key: &[u8; 32]) -> Option<DownloadToken> {
        let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).ok()?);
        let signature = URL_SAFE_NO_PAD.encode(authenticate(&payload, key)?.finalize().into_bytes());
        DownloadToken::parse(&format!("{payload}.{signature}")).ok()
    }

    /// Reads a token that was signed with the key.
    pub fn read(token: &DownloadToken, key: &[u8; 32]) -> Option<Self> {
        let (payload, signature) = token.as_str().split_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        authenticate(payload, key)?.verify_slice(&signature).ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
    }
}

fn authenticate(payload: &str, key: &[u8; 32]) -> Option<Hmac<Sha256>> {
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key).ok()?;
    mac.update(payload.as_bytes());
    Some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_signed_is_read() {
        let download = Download {
            organization: OrganizationId::parse("acme").unwrap(),
            item: LibraryItemId::parse("6b087fb88c8b71fedaf8732b").unwrap(),
            expires_at: Timestamp::from_milliseconds(1),
        };
        let token = download.sign(&[1; 32]).unwrap();
        assert_eq!(Download::read(&token, &[1; 32]), Some(download.clone()));
        assert_eq!(Download::read(&token, &[2; 32]), None, "of another installation");
        let other = Download { expires_at: Timestamp::from_milliseconds(2), ..download }.sign(&[1; 32]).unwrap();
        let (payload, _) = other.as_str().split_once('.').unwrap();
        let (_, signature) = token.as_str().split_once('.').unwrap();
        for forged in [format!("{payload}.{signature}"), format!("{payload}."), payload.to_owned(), ".".to_owned()] {
            assert_eq!(Download::read(&DownloadToken::parse(&forged).unwrap(), &[1; 32]), None, "{forged}");
        }
    }
}
