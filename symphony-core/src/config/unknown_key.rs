//! A key that there is not, and the one that was probably meant.

use super::key::{Key, rows};
use super::problem::ProblemKind;
use super::table::{KEYS, STATE_KEYS};
use crate::nearest::nearest;

/// Where a token goes instead.
const TOKEN_PLACE: &str = "into the environment: `token_env` names its variable, and `token_command` is a command that prints it";

/// Suggests the key that was probably meant: one of exactly this name elsewhere, or else a similar one of the same
/// object.
pub(super) fn unknown(keys: &'static [Key], name: &str, at_top: bool) -> ProblemKind {
    if at_top && STATE_KEYS.contains(&name) {
        return ProblemKind::State;
    }
    let spelled = snake_case(name);
    let has = |wanted: &str| keys.iter().any(|key| key.name == wanted);
    if spelled.contains("token") && has("token_env") && has("token_command") {
        return ProblemKind::Misplaced {
            expected: TOKEN_PLACE.to_owned(),
        };
    }
    let ending = format!(".{spelled}");
    let elsewhere = rows(KEYS)
        .into_iter()
        .map(|row| row.path)
        .find(|path| *path == spelled || path.ends_with(&ending));
    let names = keys
        .iter()
        .map(|key| key.name)
        .filter(|name| !name.starts_with('$'));
    ProblemKind::UnknownKey {
        nearest: elsewhere.or_else(|| nearest(&spelled, names).map(str::to_owned)),
    }
}

/// Turns `maxRetries` into `max_retries`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            if !snake.is_empty() {
                snake.push('_');
            }
            snake.push(character.to_ascii_lowercase());
        } else {
            snake.push(character);
        }
    }
    snake
}
