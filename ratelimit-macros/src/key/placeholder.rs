//! What looks like a name in a text: `{phone}`, `#phone`, `@ip`, `%s`. A text is the same for all
//! calls, so whoever writes one of these meant something else.

use std::ops::Range;

use super::identity::{self, Who};
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
#[derive(Clone, Copy)]
pub(crate) struct Names<'n> {
    /// The arguments of the function.
    pub(crate) arguments: &'n [String],
    /// The names after `@`.
    pub(crate) context: &'n [&'n str],
}

/// What other languages put around a name.
const SIGNS: [char; 12] = ['{', '}', '#', '$', '@', '%', '<', '>', '=', '(', ')', ' '];

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
                '$' if stands_free && rest.get(1..).is_some_and(|rest| digits(rest) > 0) => {
                    Some(1 + digits(rest.get(1..)?))
                }
                '#' | '$' if stands_free => word(rest.get(1..)?).map(|len| len + 1),
                '@' if stands_free => word(rest.get(1..)?).map(|len| len + 1).filter(|len| {
                    let name = root(rest.get(1..*len).unwrap_or_default());
                    self.context.contains(&name) || self.is_argument(name)
                }),
                '%' => directive(rest),
                '<' => in_angles(rest),
                '*' if text.len() > 1 && before.is_none_or(|c| matches!(c, ':' | '/' | '.')) => {
                    let next = rest.chars().nth(1);
                    next.is_none_or(|c| matches!(c, ':' | '/' | '.')).then_some(1)
                }
                '?' if stands_free => {
                    let next = rest.chars().nth(1);
                    next.is_none_or(|c| !c.is_alphanumeric() && !".:?".contains(c)).then_some(1)
                }
                _ => None,
            };
            if let Some(len) = len {
                let written = rest.get(..len)?;
                let name = self.meant_by(written);
                let root = root(written.trim_matches(SIGNS).trim());
                let is_known = self.knows(root);
                return Some(Placeholder { at: start..start + len, name, is_known });
            }
            before = Some(c);
        }
        None
    }

    /// The first `#name`, `@name`, `$name` or `{name}` of something that there is: it is meant
    /// as a value, whatever else stands in the key.
    pub(super) fn marked(&self, text: &str) -> Option<Placeholder> {
        let mut from = 0;
        loop {
            let rest = text.get(from..)?;
            let found = self.placeholder(rest)?;
            let at = from + found.at.start..from + found.at.end;
            let is_free = !text.get(..at.start)?.ends_with(char::is_alphanumeric);
            let written = text.get(at.clone())?;
            if found.is_known && (is_free || written.starts_with(['{', '#', '$'])) {
                return Some(Placeholder { at, ..found });
            }
            from = at.start + written.chars().next().map_or(1, char::len_utf8);
        }
    }

    /// What a text is that stands for a missing value, where it names something.
    pub(super) fn default(&self, text: &str) -> Option<String> {
        let name = text.trim_matches(SIGNS).trim();
        if self.is_argument(root(name)) {
            return Some(name.to_owned());
        }
        if let Some(name) = self.arguments.iter().find(|known| **known == snake_case(name)) {
            return Some(name.clone());
        }
        let in_request = self.context.contains(&name).then(|| in_context(name));
        in_request
            .or_else(|| identity::of_segment(name).filter(|it| it.at.len() == name.len())?.instead)
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
            if let Some(name) = self.called(name) {
                let end = start + word(text.get(start..)?).unwrap_or(len);
                let fields = text.get(start + len..end)?;
                let name = format!("{name}{fields}");
                return Some(Placeholder { at: start..end, name, is_known: true });
            }
            from = start + len;
        }
        None
    }

    /// The first word that is an argument's name within a longer one, such as `sms_phone`.
    pub(super) fn word_within(&self, text: &str) -> Option<Placeholder> {
        let words = identity::words(text, &(0..text.len()));
        for (first, start) in words.iter().enumerate() {
            // The longest first.
            for end in words.get(first..)?.iter().rev() {
                let at = start.start..end.end;
                // `to` is meant in `sms_to` and not in `add_to_cart`.
                if at.len() < 3 && at.end < text.len() {
                    continue;
                }
                if let Some(name) = self.called(&text.get(at.clone())?.replace(['-', '.'], "_")) {
                    return Some(Placeholder { at, name: name.clone(), is_known: true });
                }
            }
        }
        None
    }

    /// A word that says who calls, such as `client_ip`.
    pub(super) fn who(&self, text: &str) -> Option<Placeholder> {
        Some(self.placed(identity::in_text(text)?))
    }

    /// The same where only whole parts of the text count.
    pub(super) fn who_alone(&self, text: &str) -> Option<Placeholder> {
        Some(self.placed(identity::of_segment(text)?))
    }

    fn placed(&self, found: Who) -> Placeholder {
        let name = found.instead.unwrap_or_else(|| self.first());
        Placeholder { at: found.at, name, is_known: false }
    }

    fn called(&self, word: &str) -> Option<&String> {
        let word = snake_case(word);
        self.arguments.iter().find(|known| **known == word)
    }

    fn knows(&self, name: &str) -> bool {
        self.is_argument(name) || self.context.contains(&name)
    }

    /// What most likely was meant by what names nothing.
    fn first(&self) -> String {
        self.arguments.first().cloned().unwrap_or_else(|| "@ip".to_owned())
    }

    fn is_argument(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument == name)
    }

    /// What to write for a placeholder.
    fn meant_by(&self, written: &str) -> String {
        let name = written.trim_matches(SIGNS).trim_start_matches('#');
        let root = root(name);
        let number = name.trim_end_matches(['s', 'd', 'v', '$', ':', '?']);
        if written.starts_with('@') && self.context.contains(&root) {
            in_context(root)
        } else if self.is_argument(root) || root == "self" {
            name.to_owned()
        } else if self.context.contains(&root) {
            in_context(root)
        } else if let Ok(number) = number.parse::<usize>() {
            // `{0}` and `$1` are the first.
            let index = number.saturating_sub(usize::from(written.starts_with(['$', '%'])));
            if index < self.arguments.len() { format!("args[{index}]") } else { self.first() }
        } else {
            let who = identity::in_text(name).and_then(|who| who.instead);
            who.unwrap_or_else(|| self.first())
        }
    }
}

pub(super) fn in_context(name: &str) -> String {
    match name {
        "ip" | "path" | "route" | "method" => format!("@{name}"),
        "header" => "@header['x-api-key'] ?: @ip".to_owned(),
        _ => format!("@{name} ?: @ip"),
    }
}

/// The length of `{..}`, or of `{{..}}`.
fn in_braces(text: &str) -> Option<usize> {
    if text.starts_with("{{") {
        return text.find("}}").map(|close| close + 2);
    }
    text.find('}').map(|close| close + 1)
}

/// The length of `<name>`, also of `<%= name %>`.
fn in_angles(text: &str) -> Option<usize> {
    let close = text.find('>')?;
    let inside = text.get(1..close)?;
    let name = match inside.strip_prefix("%=") {
        Some(inside) => inside.trim_matches(['%', ' ']),
        None => inside,
    };
    (word(name)? == name.len()).then_some(close + 1)
}

/// The length of a name with its fields.
fn word(text: &str) -> Option<usize> {
    text.starts_with(is_start).then(|| {
        let len = text.find(|c: char| !is_xid_continue(c) && c != '.').unwrap_or(text.len());
        text.get(..len).unwrap_or_default().trim_end_matches('.').len()
    })
}

/// How many digits stand in front.
fn digits(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
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
    fn marked_names_are_found_that_exist() {
        let names = Names { arguments: &["phone".to_owned()], context: &["ip", "user", "header"] };
        for (text, written) in [
            ("#phone:", "#phone"),
            ("@ip:", "@ip"),
            ("$user:", "$user"),
            ("{user}:", "{user}"),
            ("#1 {tag} @ip", "@ip"),
            ("a@ip #phone", "#phone"),
        ] {
            let found = names.marked(text).unwrap();
            assert_eq!(&text[found.at], written, "{text}");
        }
        for text in ["user#", "mail@ip:", "#tag:", "@nobody:", "{tag}:", "$1:", "%s:", "sms#1"] {
            assert!(names.marked(text).is_none(), "{text}");
        }
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
            ("sms:%1$s:x", "%1$s", "args[0]"),
            ("sms:$phone", "$phone", "phone"),
            ("sms:#phone.area", "#phone.area", "phone.area"),
            ("login:@ip", "@ip", "@ip"),
            ("ip:@header[x-api-key]", "@header", "@header['x-api-key'] ?: @ip"),
            ("sms:$1", "$1", "args[0]"),
            ("sms:<to>", "<to>", "phone"),
            ("sms:*", "*", "phone"),
            ("sms:{client_ip}", "{client_ip}", "@ip"),
        ] {
            assert_eq!(found(text), Some((written.to_owned(), name.to_owned())), "{text}");
        }
        for text in [
            "sms",
            "user#1",
            "a@ip",
            "@nobody",
            "100%",
            "50%save",
            "who?",
            "?x",
            "#",
            "$",
            "{",
            "a:b",
            "v1.2",
            "*",
            "a*b",
            "a < b > c",
            "$",
            "US$5",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
