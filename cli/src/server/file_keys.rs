//! The keys of the settings file, as serde reads them.

use serde::Deserialize;
use serde::de::value::Error;
use serde::de::{Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

use super::builds::BuildSettings;
use super::data::DataArguments;
use super::embeddings::EmbeddingSettings;
use super::model::AgentModelSettings;
use super::proxies::ProxySettings;
use super::serve_settings::ServeSettings;
use super::storage::StorageSettings;
use super::telemetry::LogSettings;

/// The keys of the file outside its tables, and the names of its tables.
pub fn list_keys() -> Vec<&'static str> {
    let groups = [
        list_fields::<ServeSettings>(),
        list_fields::<DataArguments>(),
        list_fields::<ProxySettings>(),
        list_fields::<LogSettings>(),
        list_fields::<StorageSettings>(),
        list_fields::<BuildSettings>(),
        list_fields::<EmbeddingSettings>(),
        list_fields::<AgentModelSettings>(),
    ];
    groups.concat()
}

/// The place of a setting in the file: its table, and its key.
#[cfg(test)]
pub fn find_key(setting: &str) -> Option<(Option<&'static str>, &'static str)> {
    let tables = [
        (None, list_keys()),
        (Some("limits"), list_fields::<super::limits::LimitSettings>().to_vec()),
        (Some("egress"), list_fields::<super::egress::EgressSettings>().to_vec()),
    ];
    tables.into_iter().find_map(|(table, keys)| Some((table, keys.into_iter().find(|key| *key == setting)?)))
}

/// The fields that serde reads for a struct.
fn list_fields<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    // Fails always: the deserializer has no values.
    let _ = T::deserialize(FieldNames(&mut fields));
    fields
}

/// A deserializer that notes the fields of the struct that it should read.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("there are no values"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("there are no values"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
