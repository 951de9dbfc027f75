//! Keys of artifacts in a bucket: `artifacts/ab/<sha256>/<day>`.

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::objects::ObjectEntry;
use crate::kit::clock::Timestamp;
use crate::kit::digest::Digest;

/// The folder of all artifacts.
pub const FOLDER: &str = "artifacts";

/// A copy of an artifact: an object that was created on the day in its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactCopy {
    pub digest: Digest,
    pub day: Date,
    pub bytes: u64,
    /// The time of its creation, by the clock of the service.
    pub modified: Timestamp,
}

impl ArtifactCopy {
    /// Returns the copy of an object, or `None` for an object with another key.
    pub fn of(object: &ObjectEntry) -> Option<Self> {
        let (folder, day) = object.key.rsplit_once('/')?;
        let (_, name) = folder.rsplit_once('/')?;
        let digest = Digest::parse(&format!("sha256:{name}")).ok()?;
        let copy = Self { digest, day: day.parse().ok()?, bytes: object.bytes, modified: object.modified };
        (copy.key() == object.key).then_some(copy)
    }

    pub fn key(&self) -> String {
        build_key(&self.digest, self.day)
    }

    /// Whether the day of the copy ended before `before`, so that no publication creates an object with its key any more. The
    /// clock of the service has to agree.
    pub fn ended_before(&self, before: Timestamp) -> bool {
        self.modified < before && self.day.checked_add(1.day()).is_ok_and(|next| next <= to_day(before))
    }
}

/// The folder of the copies of an artifact.
pub fn build_folder(digest: &Digest) -> String {
    let name = digest.to_hex();
    format!("{FOLDER}/{}/{name}", &name[..2])
}

pub fn build_key(digest: &Digest, day: Date) -> String {
    format!("{}/{day}", build_folder(digest))
}

/// The day of a time, in UTC.
pub fn to_day(time: Timestamp) -> Date {
    let milliseconds = time.as_milliseconds();
    let end = if milliseconds < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    let instant = jiff::Timestamp::from_millisecond(milliseconds).unwrap_or(end);
    instant.to_zoned(TimeZone::UTC).date()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 86_400_000;

    #[test]
    fn a_day_has_ended_when_the_next_one_has_begun() {
        let digest = Digest::of(b"component");
        let at = |days: i64, more: i64| Timestamp::from_milliseconds(days * DAY_MS + more);
        let copy = ArtifactCopy { digest, day: to_day(at(5, 0)), bytes: 9, modified: at(5, 7) };
        assert_eq!(copy.day.to_string(), "1970-01-06");
        assert!(!copy.ended_before(at(6, -1)));
        assert!(copy.ended_before(at(6, 0)));
        let of_slow_clock = ArtifactCopy { modified: at(8, 0), ..copy };
        assert!(!of_slow_clock.ended_before(at(8, 0)));
        assert!(of_slow_clock.ended_before(at(8, 1)));
    }

    #[test]
    fn a_key_is_parsed_and_other_keys_are_not() {
        let digest = Digest::of(b"component");
        let modified = Timestamp::from_milliseconds(0);
        let entry = |key: String| ObjectEntry { key, bytes: 9, modified };
        let copy = ArtifactCopy { digest, day: to_day(modified), bytes: 9, modified };
        assert_eq!(ArtifactCopy::of(&entry(copy.key())), Some(copy.clone()));
        for other in
            [copy.key() + "/more", format!("{}/yesterday", build_folder(&digest)), build_folder(&digest), String::new()]
        {
            assert_eq!(ArtifactCopy::of(&entry(other)), None);
        }
    }
}
