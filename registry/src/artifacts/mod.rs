//! Bytes by digest, in the data directory or in a bucket.

mod bucket;
mod cache;
mod content_store;
mod directory;
mod object_keys;
mod objects;
mod recorded_bodies;
mod storage_url;
mod unused_artifact;
mod unused_files;

pub use content_store::{Artifacts, BucketOptions};
pub use objects::{ObjectEntry, Objects};
pub use recorded_bodies::{RecordedBodies, StoredBody};
pub use storage_url::{Provider, StorageUrl};
pub use unused_artifact::UnusedArtifact;
