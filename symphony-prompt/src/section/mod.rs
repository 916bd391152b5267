//! Sections of the user prompt: what each says, how it is fitted to its share, how it is rendered.

mod criteria;
mod diff;
mod documents;
mod draft;
pub(crate) mod fit;
mod flow;
mod history;
mod integration;
mod issue;
mod knowledge;
mod name;
mod points;
mod resumed;
mod review;

pub(crate) use criteria::criteria;
pub(crate) use diff::diff;
pub(crate) use documents::{DocumentsOf, documents, documents_need};
pub(crate) use draft::{Fit, Piece, SectionDraft, UserPrompt, assemble};
pub(crate) use flow::{Shared, Total, draft_shared, need_of_list};
pub(crate) use history::{
    attempts, conversation, finding, findings, messages, rejected_deliveries,
};
pub(crate) use integration::integration;
pub(crate) use issue::{dependencies, description, header, name_line, title_line};
pub(crate) use knowledge::{
    bullet, gate_commands, gate_results, indented, instructions, learnings,
};
pub use name::SectionName;
pub(crate) use points::{PointsReader, answer_diff, review_points};
pub(crate) use resumed::add_resumed;
pub(crate) use review::{artifact, done_review, phase_review, pull_request};
