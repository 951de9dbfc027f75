//! What the comparison of the ledger with the server found wrong.

#[derive(Default, Debug)]
pub struct Findings {
    /// Acknowledged work that is missing or different.
    pub lost: Vec<String>,
    /// Work that was done more often than it was acknowledged.
    pub doubled: Vec<String>,
    /// Versions without a part.
    pub half_published: Vec<String>,
    /// Everything else: open records, damaged files, locks, unexpected refusals.
    pub other: Vec<String>,
}

impl Findings {
    /// Fails the test if there is a finding.
    #[track_caller]
    pub fn assert_none(&self) {
        assert!(!self.is_any(), "{self:#?}");
    }

    pub fn is_any(&self) -> bool {
        self.counts() != [0; 4]
    }

    pub fn counts(&self) -> [usize; 4] {
        [&self.lost, &self.doubled, &self.half_published, &self.other].map(Vec::len)
    }
}
