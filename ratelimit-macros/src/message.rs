//! Every message that the attribute can give, as data.
//!
//! A message says what is wrong, then what to write instead: lower case, no full stop, the user's own
//! text in backticks. It is declared with [`messages!`] and nowhere else, so that
//! `src/tests/messages.rs` can hold each one against the `.stderr` files of `tests/ui/fail`.

use std::fmt;

/// The text of one error. Only [`messages!`] makes one.
#[derive(Clone, Debug)]
pub(crate) struct Message(String);

impl Message {
    /// For the expansion of [`messages!`]: a text that is written elsewhere would have no UI test.
    pub(crate) const fn from_macro(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Declares messages: one function each, and in tests their list.
///
/// ```text
/// // Input
/// messages! { given_twice(name) = "`{name}` is given twice: remove one"; }
/// // Output
/// pub(crate) fn given_twice(name: impl Display) -> Message { .. }
/// pub(crate) const ALL: &[(&str, &str)] = &[("given_twice", "`{name}` is given twice: remove one")];
/// ```
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) = $text:literal;)*) => {
        $(
            $(#[$doc])*
            pub(crate) fn $name($($arg: impl ::std::fmt::Display),*) -> $crate::message::Message {
                $crate::message::Message::from_macro(format!($text))
            }
        )*

        /// Names and templates, for the test that looks for a UI case of each.
        #[cfg(test)]
        pub(crate) const ALL: &[(&str, &str)] = &[$((stringify!($name), $text)),*];
    };
}

pub(crate) use messages;
