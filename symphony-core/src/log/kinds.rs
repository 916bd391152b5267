//! The macro behind [`LogEvent`](super::LogEvent): one list gives the variants, their stored names and serde.

/// Makes the enum of all kinds of entries, with `KINDS` and `kind()`.
///
/// The last variant, `Unknown`, is made here: serde falls back to it when no other one fits.
macro_rules! log_events {
    (
        $(#[$doc:meta])*
        $name:ident {
            $(
                $(#[$vdoc:meta])*
                $variant:ident = $kind:literal
                $({ $( $(#[$fdoc:meta])* $field:ident : $type:ty ),* $(,)? })?
                $(( $inner:ty ))?
            ),+ $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kind", content = "payload")]
        pub enum $name {
            $(
                $(#[$vdoc])*
                #[serde(rename = $kind)]
                $variant $({ $( $(#[$fdoc])* $field: $type ),* })? $(($inner))?,
            )+
            /// An entry that this version cannot read: a newer version wrote it. It is kept as it is stored.
            #[serde(untagged)]
            Unknown {
                /// Its kind.
                kind: String,
                /// Its payload.
                payload: serde_json::Value,
            },
        }

        impl $name {
            /// The names of all kinds that this version knows.
            pub const KINDS: &'static [&'static str] = &[$($kind),+];

            /// Returns the kind's name, as the database stores it.
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$variant { .. } => $kind,)+
                    Self::Unknown { kind, .. } => kind,
                }
            }
        }
    };
}

pub(super) use log_events;
