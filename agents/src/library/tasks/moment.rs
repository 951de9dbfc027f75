//! Times in the fields of tasks.

use std::borrow::Cow;
use std::time::Duration;

use jiff::tz::TimeZone;
use registry::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::local_times::find_instant;

/// A time, as text in the form of RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment(pub Timestamp);

impl Moment {
    /// Reads a time with an offset, or a local time of the zone: at a change of the clock, the time at which it is due.
    pub fn parse(text: &str, zone: &TimeZone) -> Option<Self> {
        let instant = text.parse().ok().or_else(|| find_instant(zone, text.parse().ok()?));
        instant.map(Self::of)
    }

    pub fn of(instant: jiff::Timestamp) -> Self {
        Self(Timestamp::from_milliseconds(instant.as_millisecond()))
    }

    /// A time after which this one comes next.
    pub fn just_before(self) -> Self {
        Self(self.0.before(Duration::from_millis(1)))
    }

    pub fn instant(self) -> Option<jiff::Timestamp> {
        jiff::Timestamp::from_millisecond(self.0.as_milliseconds()).ok()
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map(Self::of).map_err(de::Error::custom)
    }
}

impl JsonSchema for Moment {
    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}
