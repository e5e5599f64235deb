//! The characters that a key must not contain as they are, written as `%XX`.

/// What is being written: decides whether `:` is reserved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text from the program's source, whose `:` separate.
    Literal,
    /// A value from outside.
    Value,
}

/// Hands `text` to `sink`, escaped, in one piece when nothing has to be escaped. An escaped
/// character is a piece of its own.
#[inline]
pub(super) fn escape(text: &str, kind: Kind, mut sink: impl FnMut(&str)) {
    let plain = match kind {
        Kind::Literal => text.bytes().all(|byte| class(byte) >= Class::Separator as u8),
        Kind::Value => text.bytes().all(|byte| class(byte) >= Class::Plain as u8),
    };
    if plain {
        sink(text);
    } else {
        escape_slowly(text, kind, &mut sink);
    }
}

/// `text` as it stands in a key when it is a value.
#[cfg(test)]
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    escape(text, Kind::Value, |piece| escaped.push_str(piece));
    escaped
}

fn escape_slowly(text: &str, kind: Kind, sink: &mut dyn FnMut(&str)) {
    let mut rest = text;
    let mut plain = 0;
    for c in text.chars() {
        let len = c.len_utf8();
        if is_reserved(c, kind) {
            let (before, from) = rest.split_at(plain);
            let (character, after) = from.split_at(len);
            if !before.is_empty() {
                sink(before);
            }
            sink(&percent(character));
            rest = after;
            plain = 0;
        } else {
            plain += len;
        }
    }
    if !rest.is_empty() {
        sink(rest);
    }
}

/// The UTF-8 bytes of one character as `%XX`.
fn percent(character: &str) -> arrayvec::ArrayString<12> {
    let mut out = arrayvec::ArrayString::new();
    for byte in character.bytes() {
        for c in ['%', hex_digit(byte >> 4), hex_digit(byte & 15)] {
            // Four bytes make twelve characters: there is room.
            let _ = out.try_push(c);
        }
    }
    out
}

/// `nibble` is below 16.
fn hex_digit(nibble: u8) -> char {
    char::from(if nibble < 10 { b'0' + nibble } else { b'A' + nibble - 10 })
}

fn is_reserved(c: char, kind: Kind) -> bool {
    match c {
        ':' => kind == Kind::Value,
        '{' | '}' | '%' => true,
        _ => c.is_whitespace() || c.is_control() || is_invisible(c),
    }
}

/// Characters of Unicode's category Cf (format), which show nothing themselves: they join, mark,
/// or turn the direction of what stands around them, so that two different keys look alike.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{600}'..='\u{605}'
            | '\u{61C}'
            | '\u{6DD}'
            | '\u{70F}'
            | '\u{890}'..='\u{891}'
            | '\u{8E2}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{110BD}'
            | '\u{110CD}'
            | '\u{13430}'..='\u{1343F}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0001}'
            | '\u{E0020}'..='\u{E007F}'
    )
}

/// What is known of a byte before its character is looked at.
#[repr(u8)]
enum Class {
    /// May have to be escaped: ASCII that does, and everything outside ASCII.
    Look = 0,
    /// `:`.
    Separator = 1,
    /// Never escaped.
    Plain = 2,
}

#[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
const CLASSES: [u8; 256] = {
    let mut classes = [Class::Look as u8; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        classes[byte as usize] = match byte {
            b':' => Class::Separator,
            b'{' | b'}' | b'%' => Class::Look,
            _ => Class::Plain,
        } as u8;
        byte += 1;
    }
    classes
};

#[inline]
#[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}
