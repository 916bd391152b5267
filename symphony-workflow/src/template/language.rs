//! The tags, blocks and filters that a template may use.

use liquid_core::Language;
use liquid_core::parser::{ParseBlock, ParseTag};
use liquid_lib::stdlib;

use super::blocks::{CaptureBlock, ForBlock};
use super::conditions::{IfBlock, UnlessBlock};
use super::filters::filters;
use super::scan::Scan;
use super::tags::{AssignTag, TextTag};

/// Returns the language of a scanned template. Nothing in it includes other files.
pub(super) fn language(scan: &Scan) -> Language {
    let mut language = Language::empty();
    let tags: [Box<dyn ParseTag>; 7] = [
        Box::new(AssignTag),
        Box::new(stdlib::BreakTag),
        Box::new(stdlib::ContinueTag),
        Box::new(stdlib::CycleTag),
        Box::new(stdlib::IncrementTag),
        Box::new(stdlib::DecrementTag),
        Box::new(TextTag::new(scan.texts())),
    ];
    for tag in tags {
        let name = tag.reflection().tag().to_owned();
        language.tags.register(name, tag);
    }
    let blocks: [Box<dyn ParseBlock>; 5] = [
        Box::new(IfBlock),
        Box::new(UnlessBlock),
        Box::new(stdlib::CaseBlock),
        Box::new(ForBlock::new(scan.iteration_cost())),
        Box::new(CaptureBlock),
    ];
    for block in blocks {
        let name = block.reflection().start_tag().to_owned();
        language.blocks.register(name, block);
    }
    for filter in filters() {
        let name = filter.reflection().name().to_owned();
        language.filters.register(name, filter);
    }
    language
}
