//! The request of a publication.

use registry::{BranchName, BumpKind, OperationId, ProjectPath, ToolId};
use repository::CommitId;

use super::replay_gate::ReplayGate;

#[derive(Debug, Clone)]
pub struct PublishRequest {
    pub tool: ToolId,
    pub project_path: ProjectPath,
    /// The requested bump. `None` for the smallest bump that the changes require.
    pub bump: Option<BumpKind>,
    /// The replay gate that the new version must pass.
    pub gate: Option<ReplayGate>,
    /// The branch to publish. `None` for the team's branch.
    pub commit_branch: Option<BranchName>,
    /// The commit to publish, which was the branch's tip. `None` for the present tip.
    pub commit: Option<CommitId>,
    /// The asynchronous operation that the build belongs to.
    pub operation: Option<OperationId>,
    /// Publishes the commit even if an identical publication has just succeeded.
    pub is_deliberate: bool,
}
