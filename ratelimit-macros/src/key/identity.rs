//! Words that say who calls. A text of one of them is the same for all callers, and whoever writes
//! `'user_id'` or `'per_ip'` as a key meant a value.

use std::ops::Range;

use crate::words::{has, snake_case};

/// Words as they stand elsewhere, and what to write.
const WHO: &[(&str, &str)] = &[
    (
        "ip ipaddr ipaddress ipv4 ipv6 addr ip_addr ip_address client_ip clientip remote_ip real_ip \
         source_ip user_ip remote_addr remote_address remote_host client_addr peer_addr peer_ip \
         binary_remote_addr http_x_forwarded_for http_x_real_ip x_forwarded_for x_real_ip forwarded \
         forwarded_for remote_ip_address remote_ipaddress cf_connecting_ip true_client_ip host_ip peer",
        "@ip",
    ),
    (
        "user uid userid username user_name client clientid customer customerid account accountid \
         member principal caller session sessionid sid remote_user current_user",
        "@user ?: @ip",
    ),
    ("host hostname", "@header['host'] ?: @ip"),
    ("url uri request_uri request_path", "@path"),
    ("endpoint", "@route"),
    ("tenant tenantid", "@tenant ?: @ip"),
    ("device deviceid fingerprint", "@device ?: @ip"),
    (
        "apikey api_key token access_token auth_token bearer_token jwt http_x_api_key",
        "@header['x-api-key'] ?: @ip",
    ),
    ("authorization http_authorization bearer", "@header['authorization'] ?: @ip"),
    ("user_agent useragent http_user_agent", "@header['user-agent'] ?: @ip"),
    ("cookie cookies http_cookie", "@header['cookie'] ?: @ip"),
];

/// The same that only an argument gives.
const GIVEN: &str = "id uuid guid email mail phone mobile msisdn phone_number email_address org organization organisation";

/// What comes in front of such a word: `per_ip`.
const BEFORE: &str = "by per each every";

/// What follows such a word: `user_id`, `ip_limit`.
const BEHIND: &str = "id ids uuid extractor resolver key name no nr num number addr address hash value header limit limits \
                      limiter limiting rate ratelimit quota bucket throttle based level only wise";

/// What is done to what follows: `create_user` and `verify_email` say what is limited, and not by whom.
const ACTIONS: &str = "add approve archive ban block cancel change clear close confirm create deactivate delete disable \
     edit enable export import invite list lock merge notify publish purge refresh register remove \
     renew resend reset restore revoke rotate save search send subscribe sync unlock update upload \
     validate verify";

/// Something in a text that stands for who calls.
pub(super) struct Who {
    /// In bytes of the text.
    pub(super) at: Range<usize>,
    /// What to write; nothing when only an argument gives it.
    pub(super) instead: Option<String>,
}

/// Whether a whole text, or what stands between the `:` of one, is such a word.
pub(super) fn of_segment(text: &str) -> Option<Who> {
    segments(text)
        .find_map(|at| exact(text.get(at.clone())?).map(|it| Who { at, instead: it.instead() }))
}

/// The same with what is in front of it or behind: `per_ip`, `sms_phone`, `userLimit`.
pub(super) fn in_text(text: &str) -> Option<Who> {
    if is_action(text) {
        return None;
    }
    of_segment(text).or_else(|| segments(text).find_map(|at| compound(text, &at)))
}

/// `create_user`, `verify email`: one of the actions, and what it is done to.
fn is_action(text: &str) -> bool {
    let words: Vec<String> = words(text, &(0..text.len()))
        .into_iter()
        .map(|word| text.get(word).unwrap_or_default().to_lowercase())
        .collect();
    let [action, what @ .., last] = words.as_slice() else { return false };
    has(ACTIONS, action)
        && !text.contains([':', '/', '|', ',', '=', ';', '.'])
        && !has("id ids ip uuid", last)
        && !what.iter().any(|word| has(BEFORE, word))
        && !has(BEFORE, last)
}

/// What a word stands for.
enum Meant {
    /// What a request has, as it is written.
    Requested(String),
    /// Something that only an argument gives.
    Given,
}

impl Meant {
    fn instead(self) -> Option<String> {
        match self {
            Self::Requested(value) => Some(value),
            Self::Given => None,
        }
    }
}

/// What a word stands for that says who calls.
fn exact(text: &str) -> Option<Meant> {
    if let Some(header) = header(text) {
        return Some(Meant::Requested(header));
    }
    let snake = snake_case(text).replace('.', "_");
    let (word, with_id) = match snake.strip_suffix("_id") {
        Some(word) => (word, true),
        None => (snake.as_str(), false),
    };
    let is_number = |rest: &str| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit());
    let is_first =
        snake.strip_prefix("arg").is_some_and(|rest| is_number(rest) || rest.starts_with("s["));
    // Of something that is not there, or it would have been found.
    let field = ["self.", "this.", "root."].iter().find_map(|of| text.strip_prefix(of));
    if let Some(field) = field.filter(|field| !field.is_empty()) {
        return exact(field).or(Some(Meant::Given));
    }
    let found = WHO.iter().find(|(words, _)| has(words, word));
    if found.is_none() && (with_id || is_first) || has(GIVEN, word) {
        return Some(Meant::Given);
    }
    found
        .filter(|(_, instead)| !with_id || *instead != "@ip")
        .map(|(_, it)| Meant::Requested((*it).to_owned()))
}

/// `x-api-key`, `X-Forwarded-For`: a header's name.
fn header(word: &str) -> Option<String> {
    let name = word.to_ascii_lowercase();
    let is_header = name.starts_with("x-")
        && name.len() > 3
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let is_address = has(WHO.first()?.0, &name.replace('-', "_"));
    (is_header && !is_address).then(|| format!("@header['{name}'] ?: @ip"))
}

fn compound(text: &str, at: &Range<usize>) -> Option<Who> {
    let words = words(text, at);
    let texts: Vec<String> = words
        .iter()
        .map(|word| text.get(word.clone()).unwrap_or_default().to_lowercase())
        .collect();
    let mut end = words.len();
    while end > 1 && has(BEHIND, texts.get(end - 1)?) {
        end -= 1;
    }
    // With `by` in front it counts wherever it stands, and else at the end.
    let after_by = texts.iter().position(|word| has(BEFORE, word)).map(|by| by + 1);
    let starts = after_by.into_iter().chain(end.saturating_sub(3)..end);
    for start in starts {
        for end in [words.len(), end] {
            let Some(meant) = texts.get(start..end).filter(|words| !words.is_empty()) else {
                continue;
            };
            let place = words.get(start)?.start..words.get(end - 1)?.end;
            if let Some(meant) = exact(&meant.join("_")) {
                return Some(Who { at: place, instead: meant.instead() });
            }
        }
    }
    let first = after_by?;
    let place = words.get(first)?.start..words.last()?.end;
    let instead = match texts.get(first)?.as_str() {
        "path" | "url" | "uri" => "@path",
        "route" | "endpoint" => "@route",
        "method" | "verb" => "@method",
        "second" | "minute" | "hour" | "day" | "sec" | "min" => return None,
        _ => return Some(Who { at: place, instead: None }).filter(|_| texts.len() == first + 1),
    };
    Some(Who { at: place, instead: Some(instead.to_owned()) })
}

/// What stands between the signs that separate parts of a text.
fn segments(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split([':', '/', '|', ',', ' ', '=', ';']).map(move |segment| {
        let at = start..start + segment.len();
        start = at.end + 1;
        at
    })
}

/// The words of a segment: `smsByPhone` has three.
pub(super) fn words(text: &str, at: &Range<usize>) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let (mut start, mut after_small) = (at.start, false);
    for (index, c) in text.get(at.clone()).unwrap_or_default().char_indices() {
        let index = at.start + index;
        let separates = !c.is_alphanumeric();
        if separates || c.is_uppercase() && after_small {
            words.push(start..index);
            start = if separates { index + c.len_utf8() } else { index };
        }
        after_small = c.is_lowercase() || c.is_ascii_digit();
    }
    words.push(start..at.end);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_meant() {
        for (text, written, instead) in [
            ("user_id", "user_id", "@user ?: @ip"),
            ("userId", "userId", "@user ?: @ip"),
            ("user.id", "user.id", "@user ?: @ip"),
            ("client_ip", "client_ip", "@ip"),
            ("remote_addr", "remote_addr", "@ip"),
            ("x-api-key", "x-api-key", "@header['x-api-key'] ?: @ip"),
            ("X-Forwarded-For", "X-Forwarded-For", "@ip"),
            ("header:X-Tenant", "X-Tenant", "@header['x-tenant'] ?: @ip"),
            ("authorization", "authorization", "@header['authorization'] ?: @ip"),
            ("per_ip", "ip", "@ip"),
            ("perUserLimit", "User", "@user ?: @ip"),
            ("self.tenant", "self.tenant", "@tenant ?: @ip"),
            ("login:ip", "ip", "@ip"),
            ("login-ip-limit", "ip", "@ip"),
            ("user:export", "user", "@user ?: @ip"),
            ("per_endpoint", "endpoint", "@route"),
            ("peer", "peer", "@ip"),
            ("login:host", "host", "@header['host'] ?: @ip"),
        ] {
            let Who { at, instead: found } = in_text(text).unwrap();
            assert_eq!((&text[at], found.as_deref()), (written, Some(instead)), "{text}");
        }
        for (text, written) in [
            ("sms_phone", "phone"),
            ("org_id", "org_id"),
            ("org", "org"),
            ("/orders/:id", "id"),
            ("self.shard", "self.shard"),
            ("args[0]", "args[0]"),
            ("smsByPhone", "Phone"),
            ("by_sku", "sku"),
            ("send_by_phone", "phone"),
            ("export:email", "email"),
            ("send_order_id", "send_order_id"),
        ] {
            let Who { at, instead } = in_text(text).unwrap();
            assert_eq!((&text[at], instead), (written, None), "{text}");
        }
        for text in [
            "global",
            "all",
            "sms",
            "login",
            "export",
            "send_sms",
            "user_export",
            "token-refresh",
            "create_user",
            "deleteAccount",
            "verify email",
            "rotate-api-key",
            "v1.2",
            "per_minute",
            "ip_lookup",
            "email_digest",
            "x",
            "x-1",
            "users",
            "standby",
            "",
            "zip",
            "tokens:v2",
        ] {
            assert!(in_text(text).is_none(), "{text}");
        }
    }
}
