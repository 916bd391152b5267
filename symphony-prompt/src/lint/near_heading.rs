//! Headings that are nearly those that Symphony looks for in a document: what they stand for would be lost.

use symphony_core::contract::has_heading;
use symphony_core::criteria::{MissedCriteria, missed_criteria};
use symphony_core::issue::is_near_title;
use symphony_core::nearest::nearest;

use super::finding::{Finding, LintRule};
use super::library::{Parsed, line_of};
use super::text::{PromptText, TextKind};

/// The heading below which acceptance criteria are read.
const CRITERIA: &str = "Acceptance Criteria";

/// Reports, of a contract, required sections that nearly name acceptance criteria, and headings that are nearly a required section;
/// the latter of an override, too. Code blocks count: a contract shows the document that it wants in one.
pub(super) fn near_headings(text: &PromptText<'_>, parsed: &Parsed<'_>) -> Vec<Finding> {
    let contracts = parsed.contracts.values();
    let found = match text.kind {
        TextKind::Contract => contracts.map(|(_, contract)| contract).find(|contract| {
            let phase = contract.phase.as_str();
            phase == text.stem()
        }),
        TextKind::Override => contracts.map(|(_, contract)| contract).find(|contract| {
            let phase = contract.phase.as_str();
            let profile = text.stem().strip_suffix(phase);
            profile.is_some_and(|profile| {
                profile.strip_suffix('-') == Some(contract.dispatch_profile.name())
            })
        }),
        _ => None,
    };
    let Some(contract) = found else {
        return Vec::new();
    };
    let required = &contract.required_sections;
    let mut findings = Vec::new();
    if text.kind == TextKind::Contract {
        let missed = required.iter().filter(|section| misses_criteria(section));
        findings.extend(missed.map(|section| lost_criteria(text, section)));
    }
    for (heading, number) in headings(text.text) {
        let as_text = format!("# {heading}");
        let near = required
            .iter()
            .find(|section| is_near_title(heading, section) && !has_heading(&as_text, section));
        // the right one is there as well: both are meant
        let near = near.filter(|section| {
            !headings(text.text).any(|(other, _)| has_heading(&format!("# {other}"), section))
        });
        findings.extend(near.map(|section| wrong_section(text, heading, number, section)));
    }
    findings
}

/// Says whether a required section is nearly the one that holds acceptance criteria, and is not read as such.
fn misses_criteria(section: &str) -> bool {
    let missed = missed_criteria(&format!("# {section}"));
    let is_read = missed
        .iter()
        .any(|missed| matches!(missed, MissedCriteria::NoItems(_)));
    let mut words = section.split_whitespace();
    let is_near =
        |word: Option<&str>, wanted| word.is_some_and(|word| nearest(word, [wanted]).is_some());
    let is_misspelt = is_near(words.next(), "acceptance") && is_near(words.next(), "criteria");
    !is_read && (!missed.is_empty() || (is_misspelt && words.next().is_none()))
}

/// The headings written with `#`, in code blocks, too, with the numbers of their lines.
fn headings(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.lines().zip(1..).filter_map(|(line, number)| {
        let title = line.trim().strip_prefix('#')?.trim_matches('#').trim();
        (!title.is_empty()).then_some((title, number))
    })
}

fn lost_criteria(text: &PromptText<'_>, section: &str) -> Finding {
    let field = line_of(text.text, "required_sections:");
    let below = text
        .text
        .lines()
        .skip(field - 1)
        .position(|line| line.contains(section));
    LintRule::NearHeading.warning(
        text,
        field + below.unwrap_or(0),
        format!(
            "`{section}` is not recognised as the heading of acceptance criteria: those of the document are not read"
        ),
        format!("call the section `{CRITERIA}`"),
    )
}

fn wrong_section(text: &PromptText<'_>, heading: &str, line: usize, section: &str) -> Finding {
    LintRule::NearHeading.warning(
        text,
        line,
        format!(
            "the heading `{heading}` almost matches the required section `{section}`: a document with this heading is \
             refused"
        ),
        format!("write `{section}`, here or in `required_sections`"),
    )
}
