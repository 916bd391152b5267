//! A macro for closed sets of names: one list gives the variants, their names, parsing and serde.

use std::str::FromStr;

/// A name that is not in a closed set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a valid {what}; expected one of: {}", expected.join(", "))]
pub struct UnknownName {
    /// What the set holds.
    pub what: &'static str,
    /// The given text.
    pub found: String,
    /// The names of the set.
    pub expected: &'static [&'static str],
}

/// A closed set of names, for code that works with each of them.
pub trait ClosedSet: FromStr<Err = UnknownName> + 'static {
    /// The names that an agent can pass to a tool: all of them, unless the set says which.
    const NAMES_FOR_AGENTS: &'static [&'static str];
}

macro_rules! closed_set {
    (@for_agents $name:ident) => { $name::NAMES };
    (@for_agents $name:ident $($variant:ident),+) => { &[$($name::$variant.name()),+] };
    (
        $(#[$doc:meta])* $name:ident, $what:literal, { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }
        $(, for agents: $($named:ident),+)?
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "&'static str")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// All values, in their order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The names of all values, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            /// Returns the name, as it is in files, on the command line and in JSON.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Parses a name.
            ///
            /// # Errors
            /// When the name is not in the set; the error lists the set.
            pub fn parse(text: &str) -> Result<Self, $crate::closed_set::UnknownName> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::closed_set::UnknownName { what: $what, found: text.to_owned(), expected: Self::NAMES }),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::closed_set::UnknownName;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::closed_set::UnknownName;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::parse(&text)
            }
        }

        impl $crate::closed_set::ClosedSet for $name {
            const NAMES_FOR_AGENTS: &'static [&'static str] =
                $crate::closed_set::closed_set!(@for_agents $name $($($named),+)?);
        }

        impl From<$name> for &'static str {
            fn from(value: $name) -> Self {
                value.name()
            }
        }
    };
}

pub(crate) use closed_set;
