//! How a row of the table of keys is written, and the limits that many rows share.

use super::defaults as d;
use super::key::{DefaultValue, Key, Kind, Leaf, Scope, TextRule};

pub(super) const COUNT: Leaf = Leaf::Integer {
    min: 1,
    max: d::COUNT_MAX,
};
pub(super) const WAIT: Leaf = Leaf::Integer {
    min: 0,
    max: d::DURATION_MS_MAX,
};
pub(super) const LIMIT: Leaf = Leaf::Integer {
    min: 1,
    max: d::DURATION_MS_MAX,
};
pub(super) const WATCH: Leaf = Leaf::Integer {
    min: d::WATCHDOG_MS_MIN,
    max: d::DURATION_MS_MAX,
};
pub(super) const PROMPT_TOKENS: Leaf = Leaf::Integer {
    min: 1,
    max: d::PROMPT_TOKENS_MAX,
};
pub(super) const SHARE: Leaf = Leaf::Integer { min: 0, max: 100 };
pub(super) const RISK: Leaf = Leaf::Integer {
    min: 0,
    max: d::RISK_MAX,
};
pub(super) const LINE: Leaf = Leaf::Text(TextRule::Line);

pub(super) const fn leaf(
    name: &'static str,
    leaf: Leaf,
    default: DefaultValue,
    scope: Scope,
    doc: &'static str,
) -> Key {
    Key {
        name,
        kind: Kind::Leaf(leaf),
        default,
        scope,
        doc,
    }
}

pub(super) const fn section(
    name: &'static str,
    keys: &'static [Key],
    scope: Scope,
    doc: &'static str,
) -> Key {
    Key {
        name,
        kind: Kind::Section(keys),
        default: DefaultValue::Below,
        scope,
        doc,
    }
}
