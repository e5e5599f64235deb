//! [`Text`]: a string that needs no allocation while it is short.

use arrayvec::ArrayString;

/// How many bytes are kept in place. Fits a word and a phone number, an IPv6 address or a UUID,
/// and makes a [`LimitKey`](super::LimitKey) 64 bytes.
const INLINE: usize = 48;

/// A string that needs no allocation up to [`INLINE`] bytes.
#[derive(Clone)]
pub(super) enum Text {
    Short(ArrayString<INLINE>),
    Long(String),
}

impl Text {
    #[inline]
    pub(super) const fn new() -> Self {
        Self::Short(ArrayString::new_const())
    }

    #[inline]
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Short(text) => text.as_str(),
            Self::Long(text) => text.as_str(),
        }
    }

    #[inline]
    pub(super) fn as_mut_str(&mut self) -> &mut str {
        match self {
            Self::Short(text) => text,
            Self::Long(text) => text,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.as_str().len()
    }

    #[inline]
    pub(super) fn push_str(&mut self, more: &str) {
        match self {
            Self::Short(text) => {
                if text.try_push_str(more).is_err() {
                    self.spill(more);
                }
            }
            Self::Long(text) => text.push_str(more),
        }
    }

    #[cold]
    fn spill(&mut self, more: &str) {
        let mut long = String::with_capacity((self.len() + more.len()).max(4 * INLINE));
        long.push_str(self.as_str());
        long.push_str(more);
        *self = Self::Long(long);
    }

    /// Cuts to `len` bytes; `len` lies on a character's border.
    pub(super) fn truncate(&mut self, len: usize) {
        match self {
            Self::Short(text) if len < text.len() => text.truncate(len),
            Self::Short(_) => {}
            Self::Long(text) => text.truncate(len),
        }
    }
}
