//! [`Bounded`]: the escaped text of a key, kept short however long the values are.

use sha2::{Digest, Sha256};

use super::escape::{Kind, escape};
use super::text::Text;

/// The longest key, in bytes.
pub(super) const MAX: usize = 200;
/// What stands before the hash. A `%` is otherwise always followed by two hex digits.
const MARK: &str = "%~";
/// 128 bits in hex.
const HASH: usize = 32;
/// Four bytes as `%XX`.
const LONGEST_ESCAPE: usize = 12;
/// How much of a long key stays readable.
const HEAD: usize = MAX - MARK.len() - HASH;

/// The escaped text so far; its head and a running hash once it is longer than [`MAX`].
pub(super) struct Bounded {
    text: Text,
    overflow: Option<Box<Sha256>>,
}

impl Bounded {
    #[inline]
    pub(super) const fn new() -> Self {
        Self { text: Text::new(), overflow: None }
    }

    /// Appends `text`, escaped.
    #[inline]
    pub(super) fn push(&mut self, text: &str, kind: Kind) {
        escape(text, kind, |piece| self.push_escaped(piece));
    }

    /// Appends text that needs no escaping.
    #[inline]
    pub(super) fn push_escaped(&mut self, piece: &str) {
        if self.overflow.is_none() && self.text.len() + piece.len() <= MAX {
            self.text.push_str(piece);
        } else {
            self.overflow(piece);
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.text.len() == 0
    }

    #[cold]
    fn overflow(&mut self, piece: &str) {
        if let Some(hash) = &mut self.overflow {
            hash.update(piece);
            return;
        }
        let mut hash = Box::new(Sha256::new());
        hash.update(self.text.as_str());
        hash.update(piece);
        self.overflow = Some(hash);

        // The hash knows everything; the text needs the head only, and one character more to see
        // where to cut.
        let room = (HEAD + LONGEST_ESCAPE).saturating_sub(self.text.len());
        if let Some(start) = piece.get(..piece.floor_char_boundary(room)) {
            self.text.push_str(start);
        }
        self.text.truncate(head_len(self.text.as_str()));
    }

    #[inline]
    pub(super) fn finish(mut self) -> Text {
        if let Some(hash) = self.overflow.take() {
            self.text.push_str(MARK);
            self.text.push_str(&hex128(&hash.finalize()));
        }
        self.text
    }
}

/// How much of `text` fits into the head without cutting a character, nor the escape of one.
fn head_len(text: &str) -> usize {
    let is_escape = |at: usize| text.as_bytes().get(at).is_some_and(|byte| *byte == b'%');
    let continues =
        |at: usize| matches!(text.as_bytes().get(at + 1), Some(b'8' | b'9' | b'A' | b'B'));

    let mut len = text.floor_char_boundary(HEAD);
    // `%XX` that begins within the last two bytes is cut.
    if let Some(start) = [len - 1, len - 2].into_iter().find(|at| is_escape(*at)) {
        len = start;
    }
    // So is a character whose next byte, `%80` to `%BF`, would be left out.
    while is_escape(len) && continues(len) {
        len -= 3;
    }
    len
}

/// The first 128 bits of a digest in lower-case hex.
pub(super) fn hex128(digest: &[u8]) -> arrayvec::ArrayString<HASH> {
    let mut hex = arrayvec::ArrayString::new();
    for byte in digest.iter().take(HASH / 2) {
        for nibble in [byte >> 4, byte & 15] {
            // 32 digits: there is room.
            let _ = hex.try_push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    hex
}
