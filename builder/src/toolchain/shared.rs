//! Resources that the toolchains of several languages share.

use crate::images::Images;
use crate::sandbox::Scratches;
use crate::snapshots::Snapshots;

/// Images, snapshots and temporary directories of this process. Clones share them.
#[derive(Clone)]
pub struct ToolchainParts {
    pub images: Images,
    pub snapshots: Snapshots,
    pub scratches: Scratches,
}
