//! The names of Redis keys.

use std::borrow::Cow;

use super::slot::Slot;
use super::wire;
use crate::key::LimitKey;
use crate::rule::Check;

/// Room for most names.
const TYPICAL_NAME: usize = 96;

/// The longest group that is written as it is: a UUID fits.
const MAX_GROUP: usize = 36;

/// The most bytes of a service in a name, and of the rule's name after it. Together with the `:` between
/// them they take as much as the name of a rule without a service may.
const MAX_SERVICE: usize = 64;
const MAX_RULE_OF_SERVICE: usize = 135;

/// Follows the tag in names with a service, so that no prefix turns a name without one into a name with one.
const SERVICE_MARK: &str = "s";

/// How all names of a limiter begin.
#[derive(Debug)]
pub(crate) struct KeyPrefix {
    prefix: String,
    /// As it stands in names; empty for none.
    service: String,
}

impl KeyPrefix {
    pub(crate) fn new(prefix: &str, service: Option<&str>) -> Self {
        let service = service.map(service_part);
        Self { prefix: prefix.to_owned(), service: service.unwrap_or_default() }
    }
}

/// How keys are named.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyNaming<'n> {
    pub(super) prefix: &'n KeyPrefix,
    /// Whether keys lie in slots. Then the group of a check is a part of the name.
    pub(super) has_slots: bool,
}

impl KeyNaming<'_> {
    /// Where a key lies. Without slots, all keys lie together.
    pub(super) fn slot(self, key: &str) -> Slot {
        if self.has_slots { Slot::of(key) } else { Slot::default() }
    }

    /// A key that no check has, for probes. A user who may only touch the keys of this service may touch it.
    pub(super) fn probe(self) -> String {
        let KeyPrefix { prefix, service } = self.prefix;
        if service.is_empty() {
            [prefix, "probe"].join(":")
        } else {
            [prefix, service, "probe"].join(":")
        }
    }

    /// The Redis key of a check: `prefix:rule:tag:key`, or `prefix:service:rule:tags:key` with a service.
    /// Where keys lie in slots, a group follows the prefix, as in `prefix:{group}:rule:tag:key`.
    ///
    /// At most 512 bytes: a prefix has no more than 64, a rule's name is written and shortened like a key
    /// of one value, and groups and services are shortened.
    pub(super) fn key(self, check: &Check<'_>) -> String {
        let rule = check.rule();
        let own = rule.service().map(service_part);
        let service = own.filter(|own| !own.is_empty());
        let service = service.as_deref().unwrap_or(&self.prefix.service);

        let mut key = String::with_capacity(TYPICAL_NAME);
        key.push_str(&self.prefix.prefix);
        if let Some(group) = check.group().filter(|_| self.has_slots) {
            // Braces make it a hash tag. No other part has any.
            key.extend([":{", &group_part(group.as_str()), "}"]);
        }
        let name = rule.escaped_name();
        let tag = wire::tag(rule.written());
        if service.is_empty() {
            key.extend([":", name, ":", tag]);
        } else {
            key.extend([":", service, ":", &rule_part(name), ":", tag, SERVICE_MARK]);
        }
        key.extend([":", check.key().as_str()]);
        key
    }
}

/// A group as it stands in braces.
fn group_part(group: &str) -> Cow<'_, str> {
    if group.len() <= MAX_GROUP { group.into() } else { LimitKey::digest(group).to_string().into() }
}

/// A service as it stands in names.
fn service_part(service: &str) -> String {
    shortened(LimitKey::from(service).as_str(), MAX_SERVICE).into_owned()
}

/// The name of a rule as it stands after a service. A rule that is called like a tag is escaped: else its
/// name would be taken for the tag, and the service for the rule.
fn rule_part(rule: &str) -> Cow<'_, str> {
    match rule.split_at_checked(1) {
        Some((first, rest)) if wire::TAGS.contains(&rule) => {
            first.bytes().map(|byte| format!("%{byte:02X}")).chain([rest.to_owned()]).collect()
        }
        _ => shortened(rule, MAX_RULE_OF_SERVICE),
    }
}

/// Escaped text. If it is longer than this, it is cut, and ends in a hash of all of it. Everywhere else two hex
/// digits follow a `%`.
fn shortened(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return text.into();
    }
    let digest = LimitKey::digest(text);
    let room = max.saturating_sub(digest.len() + 2);
    let mut head = text.get(..text.floor_char_boundary(room)).unwrap_or_default();
    // No half of an escaped byte.
    if let Some((before, escape)) = head.rsplit_once('%').filter(|(_, escape)| escape.len() < 2) {
        debug_assert!(escape.is_ascii());
        head = before;
    }
    [head, "%~", &digest].concat().into()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use super::*;
    use crate::rule::{Algorithm, Rate, Rule};

    const BUCKET: Algorithm = Algorithm::TokenBucket { capacity: 20, refill: Rate::per_second(5) };
    const WINDOW: Algorithm = Algorithm::FixedWindow { limit: 100, window: Duration::from_mins(1) };

    /// The name of a key, on a single server or on a cluster.
    fn name(has_slots: bool, prefix: &str, service: &str, check: &Check<'_>) -> String {
        let prefix = KeyPrefix::new(prefix, Some(service).filter(|service| !service.is_empty()));
        KeyNaming { prefix: &prefix, has_slots }.key(check)
    }

    fn plain(service: &str, rule: &Rule) -> String {
        name(false, "rate:limit", service, &Check::new(rule, "k"))
    }

    #[test]
    fn a_rule_cannot_reach_into_the_next_part() {
        let rule = Rule::new("a:b {c}", WINDOW);
        assert_eq!(plain("", &rule), "rate:limit:a%3Ab%20%7Bc%7D:fw1:k");
        assert_eq!(plain("s", &rule), "rate:limit:s:a%3Ab%20%7Bc%7D:fw1s:k");
    }

    #[test]
    fn a_service_is_a_part_of_the_name() {
        let rule = Rule::new("login", WINDOW);
        assert_eq!(plain("", &rule), "rate:limit:login:fw1:k");
        assert_eq!(plain("sms-gateway", &rule), "rate:limit:sms-gateway:login:fw1s:k");
        let shared = rule.with_service("mail");
        assert_eq!(plain("sms-gateway", &shared), "rate:limit:mail:login:fw1s:k");
        assert_eq!(plain("", &shared), plain("mail", &Rule::new("login", WINDOW)));
        assert_eq!(
            plain("", &Rule::new("login", WINDOW).with_service("")),
            "rate:limit:login:fw1:k"
        );
    }

    /// Whatever services and rules are called, and whatever the prefix ends in.
    #[test]
    fn b161_no_two_services_have_one_key() {
        let of = |prefix, service, rule, key: &str| {
            name(false, prefix, service, &Check::new(&Rule::new(rule, WINDOW), LimitKey::from(key)))
        };
        // What a key expression has of its own may hold `:`.
        let literal = |prefix, service, rule, key: &'static str| {
            let key = crate::key::KeyBuilder::new().text(key).finish();
            name(false, prefix, service, &Check::new(&Rule::new(rule, WINDOW), key))
        };
        let names = [
            of("rate:limit", "a", "b:login", "k"),
            of("rate:limit", "a:b", "login", "k"),
            of("rate:limit", "a%3Ab", "login", "k"),
            of("rate:limit", "", "login", "k"),
            of("rate:limit:a", "", "login", "k"),
            of("rate:limit", "a", "login", "k"),
            literal("rate:limit", "", "a", "fw1s:k"),
            literal("rate:limit", "a", "fw1", "k"),
            literal("rate:limit", "", "a", "fw1:k"),
            of("rate:limit", &"s".repeat(65), "login", "k"),
            of("rate:limit", &"s".repeat(66), "login", "k"),
        ];
        let different: HashSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:#?}");
    }

    #[test]
    fn state_keys_stay_short() {
        let long = |letter: &str| letter.repeat(1_000);
        for letters in ["x", "\u{7AE0}", "{"] {
            let rule = Rule::named(long(letters), WINDOW);
            let check = Check::new(&rule, long("k")).with_group(long(letters));
            for service in ["", "s", &long(letters)] {
                let key = name(true, &"p".repeat(64), service, &check);
                assert!(key.len() <= 512, "{}: {key}", key.len());
                let group = check.clone().with_group("g".repeat(1_001));
                assert_ne!(name(true, &"p".repeat(64), service, &group), key);
                let other = Rule::named(format!("{}!", long(letters)), WINDOW);
                let other = Check::new(&other, long("k")).with_group(long(letters));
                assert_ne!(name(true, &"p".repeat(64), service, &other), key);
            }
        }
        // Readable as far as it goes, and no escaped byte is cut in half.
        for cut in 28..34 {
            let text = format!("{}%7B{}", "s".repeat(cut), long("t"));
            let service = shortened(&text, MAX_SERVICE);
            assert!(service.len() <= MAX_SERVICE && service.starts_with(&"s".repeat(28)));
            let head = service.split_once("%~").unwrap().0;
            assert!(!head.ends_with(['%', '7']), "{service}");
        }
    }

    #[test]
    fn a_group_is_a_slot_on_a_cluster_and_nothing_elsewhere() {
        let (sms, day) = (Rule::new("sms", BUCKET), Rule::new("day", WINDOW));
        let sms = Check::new(&sms, "a").with_group("t{1}");
        let day = Check::new(&day, "b").with_group("t{1}");
        for service in ["", "{x}", "s"] {
            let grouped = |check| name(true, "rate:limit", service, check);
            let alone = |check| name(false, "rate:limit", service, check);
            assert_eq!(Slot::of(&grouped(&sms)), Slot::of(&grouped(&day)));
            assert_ne!(Slot::of(&alone(&sms)), Slot::of(&alone(&day)));
        }
        assert_eq!(name(true, "rate:limit", "", &sms), "rate:limit:{t%7B1%7D}:sms:tb1:a");
        assert_eq!(name(true, "rate:limit", "s", &sms), "rate:limit:{t%7B1%7D}:s:sms:tb1s:a");
        assert_eq!(name(false, "rate:limit", "", &sms), "rate:limit:sms:tb1:a");
        // A service in braces puts nothing into one slot.
        let rule = Rule::new("login", WINDOW);
        let slots: HashSet<u16> = (0..300)
            .map(|n| name(true, "rate:limit", "{x}", &Check::new(&rule, n.to_string())))
            .map(|key| Slot::of(&key).0)
            .collect();
        assert!(slots.len() > 250, "{}", slots.len());
    }
}
