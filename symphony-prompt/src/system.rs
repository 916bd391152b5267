//! The system prompt: layers fitted into a budget by a waterfall over priorities.

use std::borrow::Cow;
use std::collections::BTreeMap;

use symphony_core::unit::Tokens;

use crate::budget::UNBOUNDED_WARNING_TOKENS;
use crate::fingerprint::fingerprint;
use crate::layer::{LAYER_SEPARATOR, Layer, LayerName, Protection};
use crate::omission::OmissionList;
use crate::report::{Outcome, PartReport, Warning};
use crate::tokens::TokenCounter;
use crate::truncate::truncate_head;

/// A system prompt with what happened to each layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPrompt {
    /// The text.
    pub text: String,
    /// The layers given, in order.
    pub parts: Vec<PartReport>,
    /// What a person should look at.
    pub warnings: Vec<Warning>,
}

/// What is decided about one layer.
enum Decision {
    Whole,
    Cut { from: Tokens, to: Tokens },
    Dropped { from: Tokens },
    Omitted { why: &'static str },
}

/// Builds a system prompt from layers in the order of their path.
///
/// Layers without text are left out. Those on the block list are omitted. Protected and unbudgeted layers
/// are always whole; then come the standard ones in the order of [`LayerName::STANDARD_ORDER`], each whole or
/// not at all; then the flexible ones, which are truncated to what is left. A separator is counted with each
/// layer, so that the whole prompt is over `budget` only when what may not be cut is.
pub fn build_system_prompt(
    layers: Vec<Layer<'_>>,
    omissions: &OmissionList,
    budget: Tokens,
    counter: &dyn TokenCounter,
) -> SystemPrompt {
    let mut layers: Vec<Layer<'_>> = layers
        .into_iter()
        .filter(|layer| !layer.text.trim().is_empty())
        .collect();
    let mut decisions: BTreeMap<LayerName, Decision> = BTreeMap::new();
    let separator = counter.count(LAYER_SEPARATOR);
    // There is one separator less than there are layers.
    let mut left = (budget + separator).get();
    for layer in &mut layers {
        trim(&mut layer.text);
        if let Some(why) = omissions.layer(layer.name) {
            decisions.insert(layer.name, Decision::Omitted { why });
        } else if matches!(
            layer.name.protection(),
            Protection::Protected | Protection::Unbudgeted
        ) {
            let cost = counter.count(&layer.text) + separator;
            left = left.saturating_sub(cost.get());
            decisions.insert(layer.name, Decision::Whole);
        }
    }
    for name in LayerName::STANDARD_ORDER
        .into_iter()
        .chain(LayerName::FLEXIBLE_ORDER)
    {
        let Some(layer) = layers.iter_mut().find(|layer| layer.name == name) else {
            continue;
        };
        if decisions.contains_key(&name) {
            continue;
        }
        let from = counter.count(&layer.text);
        let room = Tokens::new(left.saturating_sub(separator.get()));
        let decision = if from <= room {
            Decision::Whole
        } else if name.protection() == Protection::Flexible {
            let cut = truncate_head(&layer.text, room, counter).into_owned();
            layer.text = Cow::Owned(cut);
            match counter.count(&layer.text) {
                Tokens::ZERO => Decision::Dropped { from },
                to => Decision::Cut { from, to },
            }
        } else {
            Decision::Dropped { from }
        };
        if !matches!(decision, Decision::Dropped { .. }) {
            let cost = counter.count(&layer.text) + separator;
            left = left.saturating_sub(cost.get());
        }
        decisions.insert(name, decision);
    }
    render(&layers, &decisions, budget, counter)
}

/// Cuts blank lines off both ends, without touching the indentation of the first line.
fn trim(text: &mut Cow<'_, str>) {
    const LINE_ENDS: [char; 2] = ['\n', '\r'];
    match text {
        Cow::Borrowed(text) => *text = text.trim_end().trim_start_matches(LINE_ENDS),
        Cow::Owned(text) => {
            text.truncate(text.trim_end().len());
            let blank = text.len() - text.trim_start_matches(LINE_ENDS).len();
            text.drain(..blank);
        }
    }
}

fn render(
    layers: &[Layer<'_>],
    decisions: &BTreeMap<LayerName, Decision>,
    budget: Tokens,
    counter: &dyn TokenCounter,
) -> SystemPrompt {
    let mut parts = Vec::new();
    let mut warnings = Vec::new();
    let bytes = layers
        .iter()
        .map(|layer| layer.text.len() + LAYER_SEPARATOR.len())
        .sum();
    let mut text = String::with_capacity(bytes);
    for layer in layers {
        let decision = decisions.get(&layer.name).unwrap_or(&Decision::Whole);
        let outcome = match *decision {
            Decision::Whole => Outcome::Included,
            Decision::Cut { from, to } => Outcome::Truncated { from, to },
            Decision::Dropped { from } => Outcome::DroppedByBudget { from },
            Decision::Omitted { why } => Outcome::OmittedByProfile {
                why: why.to_owned(),
            },
        };
        let present = matches!(outcome, Outcome::Included | Outcome::Truncated { .. });
        let tokens = if present {
            counter.count(&layer.text)
        } else {
            Tokens::ZERO
        };
        if present {
            if !text.is_empty() {
                text.push_str(LAYER_SEPARATOR);
            }
            text.push_str(&layer.text);
            if layer.name.is_unbounded() && tokens > UNBOUNDED_WARNING_TOKENS {
                warnings.push(Warning::LongUnboundedPart {
                    part: layer.name.to_string(),
                    tokens,
                    limit: UNBOUNDED_WARNING_TOKENS,
                });
            }
        }
        parts.push(PartReport {
            part: layer.name.name().to_owned(),
            tokens,
            outcome,
            cap: None,
            items: None,
            hash: present.then(|| fingerprint(layer.text.as_bytes())),
            note: layer.note.clone(),
        });
    }
    let tokens = counter.count(&text);
    if tokens > budget {
        warnings.insert(0, Warning::SystemOverBudget { tokens, budget });
    }
    SystemPrompt {
        text,
        parts,
        warnings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::HeuristicCounter;

    fn build(
        layers: &[(LayerName, usize)],
        budget: u64,
    ) -> (SystemPrompt, Vec<(String, &'static str)>) {
        let layers = layers
            .iter()
            .map(|(name, tokens)| Layer::new(*name, "x".repeat(tokens * 4)))
            .collect();
        let omissions = OmissionList::default();
        let built = build_system_prompt(
            layers,
            &omissions,
            Tokens::new(budget),
            &HeuristicCounter::default(),
        );
        let outcomes = built
            .parts
            .iter()
            .map(|part| {
                let outcome = match part.outcome {
                    Outcome::Included => "in",
                    Outcome::Truncated { .. } => "cut",
                    Outcome::DroppedByBudget { .. } => "dropped",
                    Outcome::Known => "known",
                    Outcome::OmittedByProfile { .. } => "omitted",
                };
                (part.part.clone(), outcome)
            })
            .collect();
        (built, outcomes)
    }

    /// The rows "Protected", "Standard", "Unbudgeted", "Flexible" of the specification.
    #[test]
    fn every_layer_has_its_class() {
        use Protection::{Flexible as F, Protected as P, Standard as S, Unbudgeted as U};
        let classes: Vec<(&str, Protection)> = LayerName::ALL
            .iter()
            .map(|layer| (layer.name(), layer.protection()))
            .collect();
        assert_eq!(
            classes,
            [
                ("boundary", P),
                ("profile", P),
                ("contract", P),
                ("override", S),
                ("custom_instructions", U),
                ("web_restriction", P),
                ("external_research", S),
                ("convention_learnings", S),
                ("cross_project_learnings", F),
                ("vault", F),
                ("claude_md", P),
            ]
        );
    }

    #[test]
    fn layers_are_joined_by_a_rule() {
        let layers = vec![
            Layer::new(LayerName::Boundary, "one\n"),
            Layer::new(LayerName::Profile, "  \n"),
            Layer::new(LayerName::Contract, "\ntwo"),
        ];
        let built = build_system_prompt(
            layers,
            &OmissionList::default(),
            Tokens::new(100),
            &HeuristicCounter::default(),
        );
        assert_eq!(built.text, "one\n\n---\n\ntwo");
    }

    #[test]
    fn standard_layers_are_whole_or_dropped_in_their_own_order() {
        use LayerName as L;
        // Rendered in the path's order, fitted in the order override, research, conventions.
        let (_, outcomes) = build(
            &[
                (L::Boundary, 10),
                (L::Override, 50),
                (L::ExternalResearch, 40),
                (L::ConventionLearnings, 25),
            ],
            100,
        );
        let expected = [
            ("boundary", "in"),
            ("override", "in"),
            ("external_research", "dropped"),
            ("convention_learnings", "in"),
        ];
        assert_eq!(
            outcomes,
            expected.map(|(part, outcome)| (part.to_owned(), outcome))
        );
    }

    #[test]
    fn standard_layers_are_fitted_in_the_order_of_their_class() {
        use LayerName as L;
        // Of two that do not fit together, the one that comes first in the order stays, wherever it is rendered.
        for (first, second) in [
            (L::Override, L::ExternalResearch),
            (L::ExternalResearch, L::ConventionLearnings),
            (L::Override, L::ConventionLearnings),
        ] {
            for layers in [[first, second], [second, first]] {
                let (_, outcomes) = build(&layers.map(|layer| (layer, 60)), 100);
                for (part, outcome) in outcomes {
                    assert_eq!(outcome == "in", part == first.name(), "{part}");
                }
            }
        }
    }

    #[test]
    fn flexible_layers_get_what_is_left() {
        use LayerName as L;
        let (built, outcomes) = build(
            &[
                (L::Boundary, 10),
                (L::ConventionLearnings, 20),
                (L::CrossProjectLearnings, 30),
                (L::Vault, 90),
                (L::ClaudeMd, 10),
            ],
            100,
        );
        assert_eq!(
            outcomes[2..],
            [
                ("cross_project_learnings".to_owned(), "in"),
                ("vault".to_owned(), "cut"),
                ("claude_md".to_owned(), "in")
            ]
        );
        assert!((97..=100).contains(&crate::estimate_tokens(&built.text).get()));
        assert_eq!(built.warnings, []);
    }

    #[test]
    fn protected_and_unbudgeted_layers_are_whole_over_budget_with_a_warning() {
        use LayerName as L;
        let (built, outcomes) = build(
            &[
                (L::Boundary, 10),
                (L::Profile, 5000),
                (L::Override, 1),
                (L::CustomInstructions, 4001),
                (L::Vault, 9),
            ],
            100,
        );
        let words: Vec<&str> = outcomes.iter().map(|(_, outcome)| *outcome).collect();
        assert_eq!(words, ["in", "in", "dropped", "in", "dropped"]);
        assert_eq!(
            built.warnings,
            [
                Warning::SystemOverBudget {
                    tokens: Tokens::new(9015),
                    budget: Tokens::new(100)
                },
                Warning::LongUnboundedPart {
                    part: "custom_instructions".to_owned(),
                    tokens: Tokens::new(4001),
                    limit: Tokens::new(4000)
                },
            ]
        );
    }
}
