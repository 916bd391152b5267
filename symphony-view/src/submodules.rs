//! What a pull request does to the submodules that the repository declares.

use super::pull_request::PrView;
use crate::text::Page;

impl PrView {
    /// Adds what the pull request does to its submodules.
    #[must_use]
    pub fn with_submodules(self, submodules: Vec<String>) -> Self {
        Self { submodules, ..self }
    }

    pub(super) fn write_submodules(&self, page: &mut Page) {
        if !self.submodules.is_empty() {
            page.field("submodules", &self.submodules.join("; "));
        }
    }
}
