//! Which colour a scope of a syntax has: few colours, since more tell a reader nothing more.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use syntect::parsing::Scope;

/// How far up a scope is looked for what decides: no syntax of code nests a token deeper.
const LOOK_MAX: usize = 24;

/// A class, or a place at which the scopes around it do not count: code within a text is no text.
type Verdict = Option<&'static str>;

/// What decides, the more exact prefix first.
const RULES: &[(&str, Verdict)] = &[
    ("comment", Some("hc")),
    ("constant.character.escape", Some("hn")),
    ("string", Some("hs")),
    ("constant", Some("hn")),
    ("keyword.operator.word", Some("hk")),
    ("keyword.operator.logical.python", Some("hk")),
    ("keyword.operator", None),
    ("keyword", Some("hk")),
    ("storage", Some("hk")),
    ("variable.language", Some("hk")),
    ("entity.name.function", Some("hf")),
    ("support.function", Some("hf")),
    ("support.macro", Some("hf")),
    ("variable.function", Some("hf")),
    ("entity.name.tag.yaml", Some("ha")),
    ("entity.name.tag.toml", Some("ha")),
    ("entity.name.tag", Some("hk")),
    ("entity.name.section", Some("hk")),
    ("entity.other.attribute-name", Some("ha")),
    ("support.type.property-name", Some("ha")),
    ("meta.annotation", Some("ha")),
    ("meta.attribute", Some("ha")),
    ("entity.name", Some("ht")),
    ("entity.other.inherited-class", Some("ht")),
    ("support.type", Some("ht")),
    ("support.class", Some("ht")),
    ("markup.heading", Some("hk")),
    ("markup.raw", Some("hs")),
    ("variable.annotation", Some("ha")),
    ("variable", None),
    ("meta.interpolation", None),
    ("meta.template.expression", None),
    ("source", None),
];

static PREFIXES: LazyLock<Vec<(Scope, Verdict)>> = LazyLock::new(|| {
    let rule = |(prefix, verdict): &(&str, Verdict)| Some((Scope::new(prefix).ok()?, *verdict));
    RULES.iter().filter_map(rule).collect()
});

/// The classes of the scopes that a file has: there are few.
#[derive(Debug, Default)]
pub(super) struct Classes {
    known: BTreeMap<Scope, Option<Verdict>>,
}

impl Classes {
    /// Returns the class of what is in these scopes, the outermost first.
    pub(super) fn of(&mut self, scopes: &[Scope]) -> Option<&'static str> {
        let mut scopes = scopes.iter().rev().take(LOOK_MAX);
        let decides = |scope: &Scope| *self.known.entry(*scope).or_insert_with(|| verdict(*scope));
        scopes.find_map(decides).flatten()
    }
}

fn verdict(scope: Scope) -> Option<Verdict> {
    let rule = PREFIXES
        .iter()
        .find(|(prefix, _)| prefix.is_prefix_of(scope));
    rule.map(|(_, verdict)| *verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lightness of a colour written as `#rrggbb` (WCAG 2.1, relative luminance).
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let value =
                f64::from(u8::from_str_radix(colour.get(at..at + 2).unwrap(), 16).unwrap()) / 255.0;
            if value <= 0.03928 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    #[test]
    fn every_colour_can_be_read_on_every_background() {
        let style = include_str!("../../assets/style.css");
        let schemes: Vec<&str> = style
            .lines()
            .filter(|line| line.contains(":root{"))
            .collect();
        assert_eq!(schemes.len(), 2, "light and dark");
        for scheme in schemes {
            let colour = |name: &str| {
                let rest = scheme
                    .split_once(&format!("--{name}:"))
                    .unwrap_or_else(|| panic!("{name} is missing"))
                    .1;
                let colour = rest.split([';', '}']).next().unwrap();
                luminance(&if colour == "#fff" {
                    "#ffffff".to_owned()
                } else {
                    colour.to_owned()
                })
            };
            let classes: std::collections::BTreeSet<&str> =
                RULES.iter().filter_map(|(_, class)| *class).collect();
            for class in classes {
                for ground in ["panel", "add", "del", "add-word", "del-word"] {
                    let (one, other) = (colour(class), colour(ground));
                    let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
                    assert!(
                        contrast >= 4.5,
                        "{class} on {ground}: {contrast:.2} in {scheme}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_innermost_scope_that_has_a_rule_decides() {
        assert_eq!(PREFIXES.len(), RULES.len(), "each prefix is a scope");
        for (scopes, expected) in [
            (vec!["source.rust"], None),
            (
                vec![
                    "source.rust",
                    "comment.line",
                    "punctuation.definition.comment",
                ],
                Some("hc"),
            ),
            (
                vec!["source.rust", "string.quoted", "constant.character.escape"],
                Some("hn"),
            ),
            (
                vec![
                    "source.js",
                    "string.quoted",
                    "meta.interpolation",
                    "punctuation.x",
                ],
                None,
            ),
            (
                vec!["source.rust", "meta.function", "entity.name.function.rust"],
                Some("hf"),
            ),
            (vec!["source.rust", "keyword.operator.assignment"], None),
            (vec!["source.rust", "keyword.control"], Some("hk")),
            (
                vec!["text.html", "meta.tag", "entity.name.tag.block"],
                Some("hk"),
            ),
        ] {
            let parsed: Vec<Scope> = scopes
                .iter()
                .map(|scope| Scope::new(scope).unwrap())
                .collect();
            assert_eq!(Classes::default().of(&parsed), expected, "{scopes:?}");
        }
    }
}
