//! What looks like a name in a text: `{phone}`, `#phone`, `@ip`, `%s`. A text is the same for all
//! calls, so whoever writes one of these meant something else.

use std::ops::Range;

use crate::words::snake_case;
use unicode_ident::{is_xid_continue, is_xid_start};

/// Something in a text that looks like a name.
pub(crate) struct Placeholder {
    /// In bytes of the text.
    pub(crate) at: Range<usize>,
    /// What to write outside of the text.
    pub(crate) name: String,
    /// Whether it is the name of an argument, or of what a request has.
    pub(crate) is_known: bool,
}

/// What a text is looked through for.
pub(crate) struct Names<'n> {
    /// The arguments of the function.
    pub(crate) arguments: &'n [String],
    /// The names after `@`.
    pub(crate) context: &'n [&'n str],
}

impl Names<'_> {
    /// The first placeholder of `text`.
    pub(crate) fn placeholder(&self, text: &str) -> Option<Placeholder> {
        let mut before = None;
        for (start, c) in text.char_indices() {
            let rest = text.get(start..)?;
            let stands_free = before.is_none_or(|c: char| !c.is_alphanumeric());
            let len = match c {
                '{' => in_braces(rest),
                '#' | '$' if rest.get(1..).is_some_and(|rest| rest.starts_with('{')) => {
                    rest.get(1..).and_then(in_braces).map(|len| len + 1)
                }
                '#' | '$' if stands_free => word(rest.get(1..)?).map(|len| len + 1),
                '@' if stands_free => word(rest.get(1..)?).map(|len| len + 1).filter(|len| {
                    let name = root(rest.get(1..*len).unwrap_or_default());
                    self.context.contains(&name) || self.is_argument(name)
                }),
                '%' => directive(rest),
                '?' if stands_free => {
                    let next = rest.chars().nth(1);
                    next.is_none_or(|c| !c.is_alphanumeric()).then_some(1)
                }
                _ => None,
            };
            if let Some(len) = len {
                let written = rest.get(..len)?;
                let name = self.meant_by(written);
                let root = root(written.trim_start_matches(['#', '$', '@']));
                let is_known = self.is_argument(root) || self.context.contains(&root);
                return Some(Placeholder { at: start..start + len, name, is_known });
            }
            before = Some(c);
        }
        None
    }

    /// The first word of `text` that is an argument's name, or all of it if a request has that.
    pub(crate) fn word(&self, text: &str) -> Option<Placeholder> {
        if self.context.contains(&text) && !self.is_argument(text) {
            return Some(Placeholder { at: 0..text.len(), name: in_context(text), is_known: true });
        }
        let mut from = 0;
        while let Some(start) = text.get(from..)?.find(is_start).map(|start| from + start) {
            let len = word_len(text.get(start..)?);
            let name = text.get(start..start + len)?;
            // `Phone` and `userId` as well.
            if let Some(name) = self.arguments.iter().find(|known| **known == snake_case(name)) {
                let end = start + word(text.get(start..)?).unwrap_or(len);
                let fields = text.get(start + len..end)?;
                let name = format!("{name}{fields}");
                return Some(Placeholder { at: start..end, name, is_known: true });
            }
            from = start + len;
        }
        None
    }

    fn is_argument(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument == name)
    }

    /// What to write for a placeholder.
    fn meant_by(&self, written: &str) -> String {
        let name =
            written.trim_matches(['{', '}', '#', '$', '@', '%', ' ']).trim_start_matches('#');
        let root = root(name);
        let number = name.trim_end_matches(['s', 'd', 'v', '$', ':', '?']);
        if self.is_argument(root) || root == "self" {
            name.to_owned()
        } else if self.context.contains(&root) {
            in_context(root)
        } else if !written.starts_with('%') && number.parse::<usize>().is_ok() {
            format!("args[{number}]")
        } else {
            self.arguments.first().cloned().unwrap_or_else(|| "@ip".to_owned())
        }
    }
}

fn in_context(name: &str) -> String {
    match name {
        "ip" | "path" | "route" | "method" => format!("@{name}"),
        "header" => "@header['x-api-key'] ?: 'none'".to_owned(),
        _ => format!("@{name} ?: 'none'"),
    }
}

/// The length of `{..}`, or of `{{..}}`.
fn in_braces(text: &str) -> Option<usize> {
    if text.starts_with("{{") {
        return text.find("}}").map(|close| close + 2);
    }
    text.find('}').map(|close| close + 1)
}

/// The length of a name with its fields.
fn word(text: &str) -> Option<usize> {
    text.starts_with(is_start).then(|| {
        let len = text.find(|c: char| !is_xid_continue(c) && c != '.').unwrap_or(text.len());
        text.get(..len).unwrap_or_default().trim_end_matches('.').len()
    })
}

fn word_len(text: &str) -> usize {
    text.find(|c: char| !is_xid_continue(c)).unwrap_or(text.len())
}

/// The length of `%s` or `%1$s`.
fn directive(text: &str) -> Option<usize> {
    let rest = text.get(1..)?;
    let number = rest.find(|c: char| !c.is_ascii_digit() && c != '$')?;
    let letter = rest.get(number..)?.chars().next()?;
    let next = rest.get(number + 1..).and_then(|rest| rest.chars().next());
    let ends = next.is_none_or(|c| !c.is_alphanumeric());
    (matches!(letter, 's' | 'd' | 'v') && ends).then_some(number + 2)
}

/// `user` of `user.id`.
fn root(name: &str) -> &str {
    name.split(['.', '?', '[']).next().unwrap_or_default()
}

fn is_start(c: char) -> bool {
    c == '_' || is_xid_start(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(String, String)> {
        let names = Names { arguments: &["phone".to_owned()], context: &["ip", "user", "header"] };
        let found = names.placeholder(text)?;
        Some((text[found.at].to_owned(), found.name))
    }

    #[test]
    fn placeholders_are_found() {
        for (text, written, name) in [
            ("sms:{phone}", "{phone}", "phone"),
            ("sms:#{phone}", "#{phone}", "phone"),
            ("sms:${phone}", "${phone}", "phone"),
            ("sms:{ip}", "{ip}", "@ip"),
            ("sms:{{phone}}", "{{phone}}", "phone"),
            ("sms:?", "?", "phone"),
            ("sms:{0}", "{0}", "args[0]"),
            ("sms:{}", "{}", "phone"),
            ("sms:%s", "%s", "phone"),
            ("sms:%1$s:x", "%1$s", "phone"),
            ("sms:$phone", "$phone", "phone"),
            ("sms:#phone.area", "#phone.area", "phone.area"),
            ("login:@ip", "@ip", "@ip"),
            ("ip:@header[x-api-key]", "@header", "@header['x-api-key'] ?: 'none'"),
        ] {
            assert_eq!(found(text), Some((written.to_owned(), name.to_owned())), "{text}");
        }
        for text in [
            "sms", "user#1", "a@ip", "@nobody", "100%", "50%save", "who?", "?x", "#", "$", "{",
            "a:b", "v1.2",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
