//! Bytes that are no text, in the text that functions of keys take and make.
//!
//! Each is a NUL and a character that stands for the byte. A NUL of a text is written the same way, as the
//! byte zero: so every NUL begins a mark, and nothing that a text contains can be taken for one. No function
//! changes such a character, and none takes it for a digit.

use std::borrow::Cow;

use super::text::Text;

/// What a NUL of a text is.
const NUL: &str = "\0\u{E000}";
/// What stands for a byte: as many above this.
const ZERO: u32 = 0xE000;

/// A piece of such a text.
pub(super) enum Piece<'t> {
    Text(&'t str),
    Byte(u8),
}

/// Appends text.
#[inline]
pub(super) fn push_text(marked: &mut Text, text: &str) {
    if text.contains('\0') {
        marked.push_str(&text.replace('\0', NUL));
    } else {
        marked.push_str(text);
    }
}

/// Appends a byte that is no text.
pub(super) fn push_byte(marked: &mut Text, byte: u8) {
    marked.push_str("\0");
    let c = char::from_u32(ZERO + u32::from(byte)).unwrap_or('\u{E000}');
    marked.push_str(c.encode_utf8(&mut [0; 4]));
}

/// Hands the pieces to `sink`, in their order.
pub(super) fn pieces(marked: &str, mut sink: impl FnMut(Piece<'_>)) {
    let mut parts = marked.split('\0');
    if let Some(text) = parts.next() {
        sink(Piece::Text(text));
    }
    for part in parts {
        let mut rest = part.chars();
        let byte = rest.next().and_then(byte);
        sink(Piece::Byte(byte.unwrap_or_default()));
        sink(Piece::Text(if byte.is_some() { rest.as_str() } else { part }));
    }
}

/// The same without NULs that are text; bytes that are none stay.
pub(super) fn without_nul(marked: &str) -> Cow<'_, str> {
    if marked.contains(NUL) { marked.replace(NUL, "").into() } else { marked.into() }
}

/// `text` is cut in two there, and no character nor mark.
pub(super) fn floor_boundary(marked: &str, len: usize) -> usize {
    let len = marked.floor_char_boundary(len);
    let cuts = len > 0 && marked.as_bytes().get(len - 1) == Some(&0);
    len - usize::from(cuts)
}

/// What the character stands for, behind a NUL.
fn byte(c: char) -> Option<u8> {
    u8::try_from(u32::from(c).checked_sub(ZERO)?).ok()
}
