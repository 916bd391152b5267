//! The files that pages load: all of them are part of the program.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// A file, with its type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    media_type: &'static str,
    text: &'static str,
}

/// The address of the stylesheet.
pub(crate) const STYLE: &str = concat!("/assets/style-", env!("CARGO_PKG_VERSION"), ".css");
/// The address of the script.
pub(crate) const SCRIPT: &str = concat!("/assets/app-", env!("CARGO_PKG_VERSION"), ".js");
/// The address of the icon.
pub(crate) const ICON: &str = "/assets/icon.svg";

/// All files by address.
pub(crate) const ALL: [(&str, Asset); 3] = [
    (
        STYLE,
        Asset {
            media_type: "text/css; charset=utf-8",
            text: concat!(
                include_str!("../assets/style.css"),
                include_str!("render/style.css")
            ),
        },
    ),
    (
        SCRIPT,
        Asset {
            media_type: "text/javascript; charset=utf-8",
            text: concat!(
                include_str!("../assets/stream.js"),
                include_str!("../assets/app.js")
            ),
        },
    ),
    (
        ICON,
        Asset {
            media_type: "image/svg+xml",
            text: include_str!("../assets/icon.svg"),
        },
    ),
];

impl Asset {
    /// Answers with the file. A browser asks again each time: a new version must not meet an old page.
    pub(crate) fn answer(self) -> Response {
        (
            [
                (header::CONTENT_TYPE, self.media_type),
                (header::CACHE_CONTROL, "no-cache"),
            ],
            self.text,
        )
            .into_response()
    }
}
