//! What can be typed on every page; `?` opens it.

use maud::{Markup, html};

const KEYS: [(&str, &str); 5] = [
    ("j k", "the next or previous thing that the page lists"),
    ("Enter", "open it"),
    ("/", "search"),
    (
        "g, then b i r p l s h",
        "go to the board, inbox, runs, pull requests, plans, spending or health",
    ),
    ("?", "show this"),
];

/// Draws the list of keys.
pub(super) fn keys() -> Markup {
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl .kv {
                @for (key, does) in KEYS { dt { kbd { (key) } } dd { (does) } }
            }
            form method="dialog" { button .btn { "Close" } }
        }
    }
}
