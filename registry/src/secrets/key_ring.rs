//! The master key in its own file beside the database, and the keys derived from it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use hmac::{Hmac, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::data_key::{DataKey, build_associated_data, open, seal};
use crate::error::{Error, Result};
use crate::files::data_dir::{DataDir, MASTER_KEY};
use crate::files::durable::{
    add_path, create_private_folder, ignore_in_git, make_temporary_name, sync_folder, write_private,
};
use crate::kit::account::OrganizationId;
use crate::kit::random;

/// The master key of an installation. Cheap to clone; hidden in debug output.
#[derive(Clone)]
pub struct KeyRing(Arc<Zeroizing<[u8; 32]>>);

impl KeyRing {
    /// Reads the key file, and creates it at the first start. Refuses a file that other users can read. Refuses a missing file
    /// beside an existing database, because a new key cannot open its variables.
    pub fn load(data: &DataDir) -> Result<Self> {
        let folder = data.keys();
        let path = folder.join(MASTER_KEY);
        create_private_folder(&folder)?;
        if !add_path(&path, path.try_exists())? {
            if data.database().exists() {
                return Err(Error::KeyFileMissing { path });
            }
            create(&folder, &path)?;
        }
        read(&path).map(|key| Self(Arc::new(key)))
    }

    /// Derives a key for one purpose. The same label always yields the same key.
    pub fn derive(&self, label: &str) -> [u8; 32] {
        self.authenticate(&build_associated_data("derive", &[label]))
    }

    /// Seals an organisation's data key for the database.
    pub fn wrap(&self, organization: &OrganizationId, key: &DataKey) -> Result<Vec<u8>> {
        seal(&self.derive_wrapping_key(), &build_wrapping_data(organization, key.id()), key.bytes())
    }

    /// Opens a data key that [`KeyRing::wrap`] sealed for the same organisation and key id.
    pub fn unwrap(&self, organization: &OrganizationId, key_id: &str, wrapped: &[u8]) -> Result<DataKey> {
        let opened = open(&self.derive_wrapping_key(), &build_wrapping_data(organization, key_id), wrapped)?;
        let bytes = <[u8; 32]>::try_from(opened.as_slice());
        let bytes = bytes.map_err(|_| Error::Corrupt { what: "data key", detail: "wrong length".to_owned() })?;
        Ok(DataKey::from_parts(key_id.to_owned(), Zeroizing::new(bytes)))
    }

    fn derive_wrapping_key(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.derive("data keys"))
    }

    fn authenticate(&self, message: &[u8]) -> [u8; 32] {
        compute_keyed_hash(&self.0, message)
    }
}

impl std::fmt::Debug for KeyRing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("KeyRing([secret])")
    }
}

/// HMAC-SHA-256.
pub(crate) fn compute_keyed_hash(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let mut padded = [0; 64];
    padded[..32].copy_from_slice(key);
    // A key of exactly one block needs no length check, so this cannot fail.
    let mut hash = Hmac::<Sha256>::new(&padded.into());
    hash.update(message);
    hash.finalize().into_bytes().into()
}

fn build_wrapping_data(organization: &OrganizationId, key_id: &str) -> Vec<u8> {
    build_associated_data("data key", &[organization.as_str(), key_id])
}

/// Creates the key file. Two processes may do so at the same time; the hard link lets exactly one key win.
fn create(folder: &Path, path: &Path) -> Result<()> {
    create_private_folder(folder)?;
    ignore_in_git(folder)?;
    let temporary = folder.join(make_temporary_name());
    let text = Zeroizing::new(hex::encode(random::bytes::<32>()));
    write_private(&temporary, text.as_bytes())?;
    let linked = fs::hard_link(&temporary, path);
    add_path(&temporary, fs::remove_file(&temporary))?;
    match linked {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => add_path(path, Err(error)),
        _ => sync_folder(folder),
    }
}

fn read(path: &Path) -> Result<Zeroizing<[u8; 32]>> {
    let mode = add_path(path, fs::metadata(path))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(Error::KeyFileExposed { path: path.to_owned() });
    }
    let text = Zeroizing::new(add_path(path, fs::read_to_string(path))?);
    let mut key = Zeroizing::new([0; 32]);
    let decoded = hex::decode_to_slice(text.trim(), &mut *key);
    let detail = "it must contain 64 hexadecimal characters".to_owned();
    decoded.map(|()| key).map_err(|_| Error::Corrupt { what: "master key file", detail })
}
