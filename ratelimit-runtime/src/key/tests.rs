//! What the module promises of keys: readable, injective, bounded.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU64;
use std::rc::Rc;
use std::sync::Arc;

use proptest::prelude::*;

use super::functions::{digits, first, fold, hash, lower, optional, or_nothing, prefix, trim};
use super::shorten::MAX;
use super::*;

fn key() -> KeyBuilder<'static> {
    KeyBuilder::new()
}

fn of<T: KeyPart + ?Sized>(value: &T) -> String {
    key().value(value).finish().as_str().to_owned()
}

#[test]
fn every_kind_of_value_reads_as_expected() {
    assert_eq!(of("13800000000"), "13800000000");
    assert_eq!(of(&String::from("短信")), "短信");
    assert_eq!(of(&Cow::Borrowed("cow")), "cow");
    assert_eq!(of(&'x'), "x");
    assert_eq!(of(&true), "true");
    assert_eq!(of(&i128::MIN), "-170141183460469231731687303715884105728");
    assert_eq!(of(&u128::MAX), "340282366920938463463374607431768211455");
    assert_eq!(of(&NonZeroU64::MIN), "1");
    assert_eq!(of(&"192.0.2.1".parse::<IpAddr>().unwrap()), "192.0.2.1");
    assert_eq!(of(&"2001:db8::1".parse::<IpAddr>().unwrap()), "2001%3Adb8%3A%3A1");
    assert_eq!(of(&&mut &Box::new(7)), "7");
    assert_eq!(of(&Rc::<str>::from("rc")), "rc");
    assert_eq!(of(&Arc::<str>::from("arc")), "arc");
    let part: &dyn KeyPart = &5_u8;
    assert_eq!(of(part), "5");
}

#[test]
fn reserved_characters_are_escaped() {
    assert_eq!(of("a:b{c}d%"), "a%3Ab%7Bc%7Dd%25");
    assert_eq!(of(" \t\r\n\0\u{7f}"), "%20%09%0D%0A%00%7F");
    assert_eq!(of("\u{a0}\u{85}\u{3000}\u{2028}"), "%C2%A0%C2%85%E3%80%80%E2%80%A8");
    assert_eq!(of("\u{202e}\u{200b}\u{feff}\u{ad}"), "%E2%80%AE%E2%80%8B%EF%BB%BF%C2%AD");
    assert_eq!(of("\\|~!\"'*?[]/@é中😀"), "\\|~!\"'*?[]/@é中😀");
    assert_eq!(key().text("a:{b} %").value("x").finish().as_str(), "a:%7Bb%7D%20%25x");
    assert_eq!(escape::escaped("a:b"), "a%3Ab");
    assert_eq!(escape::escaped(""), "");
}

#[test]
fn values_that_touch_are_separated() {
    assert_eq!(key().value("a").value("b").finish().as_str(), "a:b");
    assert_eq!(key().value("a").text("x").value("b").finish().as_str(), "a:xb");
    assert_eq!(key().value("a").text(":x:").value("b").finish().as_str(), "a:x:b");
    assert_eq!(key().value("a").text("").value("b").finish().as_str(), "a:b");
    assert_eq!(key().text("a").text("b").value("c").finish().as_str(), "abc");
    assert_eq!(key().value("a").part().value("b").finish().as_str(), "a:b");
    assert_eq!(key().text("a").part().text("b").finish().as_str(), "a:b");
    assert_eq!(key().value("a").part().text(":b").finish().as_str(), "a::b");
}

#[test]
fn an_empty_value_is_noticed_wherever_it_stands() {
    assert!(LimitKey::from("").has_empty_value());
    assert!(key().finish().has_empty_value());
    assert!(LimitKey::from_parts([""; 0]).has_empty_value());
    assert!(key().text("a:").value("").text(":b").finish().has_empty_value());
    assert!(LimitKey::from_parts(["a", ""]).has_empty_value());
    assert!(key().value_or("", "").finish().has_empty_value());
    assert!(key().value(&trim("  ")).finish().has_empty_value());
    assert!(!LimitKey::from("  ").has_empty_value());
    assert!(!LimitKey::whole_rule().has_empty_value());
    assert!(!key().text("a").finish().has_empty_value());
    assert_ne!(LimitKey::whole_rule(), LimitKey::from(""));
}

#[test]
fn a_default_stands_for_none_and_for_the_empty_text() {
    let or = |key: &mut KeyBuilder<'_>| key.finish().as_str().to_owned();
    assert_eq!(or(key().value_or("ann", "nobody")), "ann");
    assert_eq!(or(key().value_or("", "nobody")), "nobody");
    assert_eq!(or(key().value_or(&Some("ann"), "nobody")), "ann");
    assert_eq!(or(key().value_or(&Some(""), "nobody")), "nobody");
    assert_eq!(or(key().value_or(&None::<&str>, "nobody")), "nobody");
    assert_eq!(or(key().value_or(&&Some(7), "nobody")), "7");
    assert_eq!(or(key().value_or(&&mut Some(7), "nobody")), "7");
    assert_eq!(or(key().value_or(&Some(&Some(Arc::<str>::from("ann"))), "nobody")), "ann");
    assert_eq!(or(key().value_or(&Some(None::<u8>), "nobody")), "nobody");
    assert_eq!(or(key().value_or(&None::<u8>, &first("", "last"))), "last");
    assert_eq!(or(key().value_or(&trim(&or_nothing(&Some(" "))), "nobody")), "nobody");
    assert_eq!(or(key().value_or(&lower(&or_nothing(&None::<&str>)), "nobody")), "nobody");
    assert_eq!(
        or(key().value_or(&prefix(&or_nothing(&None::<IpAddr>), 24, 64), "nobody")),
        "nobody"
    );
    assert_eq!(or(key().value_or(&lower(&or_nothing(&Some("Ann"))), "nobody")), "ann");
    assert_eq!(or(key().value_or(&None::<u8>, &5)), "5");
}

#[test]
fn optional_looks_into_references() {
    struct User {
        id: u32,
    }
    let user = Some(User { id: 7 });
    let id = |user: Option<&User>| of(&user.map_or(0, |user| user.id));
    assert_eq!(id(optional(&user)), "7");
    assert_eq!(id(optional(&&user)), "7");
    assert_eq!(id(optional(&&mut Some(User { id: 8 }))), "8");
    assert_eq!(optional(&None::<u8>), None);
}

#[test]
fn lower_and_trim() {
    assert_eq!(of(&lower("Ann@Example.COM")), "ann@example.com");
    assert_eq!(of(&lower("ÄΣΑΣ")), "äσας");
    assert_eq!(of(&trim("\u{3000} a b\n")), "a%20b");
    assert_eq!(of(&lower(&trim(" A "))), "a");
    assert_eq!(of(&lower(&"A".repeat(500))), of(&"a".repeat(500)));
}

/// The spellings of one number that an attacker may choose from.
#[test]
fn digits_of_a_number() {
    for written in [
        "13800000000",
        "138 0000 0000",
        "138-0000-0000",
        "(138) 0000.0000",
        "tel:13800000000",
        "13800000000,",
        "13800000000\u{200B}",
        "１３８００００００００",
        "١٣٨٠٠٠٠٠٠٠٠",
        "\u{1D7CF}3800000000",
    ] {
        assert_eq!(of(&digits(written)), "13800000000", "{written}");
    }
    assert_eq!(of(&digits("+86 138")), "86138");
    assert_eq!(of(&digits(&13_800)), "13800");
    assert_eq!(of(&digits(&"1-".repeat(150))), "1".repeat(150));
    assert!(key().value(&digits("none")).finish().has_empty_value());
    assert_eq!(key().value_or(&digits("none"), "nobody").finish().as_str(), "nobody");
}

/// A NUL, which no header has but a body may, begins nothing and hides no digit.
#[test]
fn a_nul_makes_no_other_number_or_name() {
    let phone = "13800138000";
    let mut numbers = std::collections::BTreeSet::new();
    for at in 0..=phone.len() {
        let (before, after) = phone.split_at(at);
        numbers.insert(of(&digits(&format!("{before}\0{after}"))));
        numbers.insert(of(&digits(&fold(&format!("{before}\0{after}")))));
        numbers.insert(of(&digits(&lower(&trim(&format!("{before}\0\0{after}"))))));
    }
    assert_eq!(numbers.into_iter().collect::<Vec<_>>(), [phone]);
    assert_eq!(of(&digits("\u{0}12")), "12");
    for written in
        ["user\u{0}42", "USER\u{0}4\u{0}2", "\u{0}user42\u{0}", "us\0er42\0\0", "ｕｓｅｒ\u{0}42"]
    {
        assert_eq!(of(&fold(written)), "user42", "{written:?}");
        assert_eq!(of(&fold(&lower(&trim(written)))), "user42", "{written:?}");
    }
    // What looks like a mark of a byte is text.
    for c in ['\u{E000}', '\u{E042}', '\u{E0FF}'] {
        assert_eq!(of(&fold(&format!("a\0{c}"))), of(&fold(&format!("a{c}"))));
        assert_ne!(of(&lower(&format!("a\0{c}"))), of(&lower("a\0")));
    }
    // Where a NUL is kept, it is one.
    assert_eq!(of(&lower("A\u{0}FF")), "a%00ff");
    assert_eq!(of(&trim(&lower("A\0"))), "a%00");
    assert_eq!(of(&prefix("a\u{0}FF", 24, 64)), "a%00FF");
}

/// However large a text is, to fold it is no more work than to read it.
#[test]
fn a_large_text_is_folded_in_its_head_only() {
    let folded = |text: &str| fold::folded(text);
    // Each is 18 letters when it is folded.
    let large = "\u{FDFA}".repeat(50_000);
    assert!(folded(&large).len() < large.len() + 64 * 1024);
    // What follows the head still makes another key.
    assert_ne!(of(&fold(&format!("{large}a"))), of(&fold(&format!("{large}b"))));
    assert_ne!(of(&fold(&large)), of(&fold(&format!("{large}\u{FDFA}"))));
    assert_eq!(of(&fold(&format!("{large}A"))), of(&fold(&format!("{large}a\u{2800}"))));
    // What cannot be seen does not push a name out of the head.
    for unseen in ["\u{200B}", "\0", " ", "\u{3000}"] {
        let padded = format!("{0}ＡLICE{0}", unseen.repeat(10_000));
        assert_eq!(of(&fold(&padded)), "alice", "{unseen:?}");
    }
    // ASCII is folded whole, beside others too.
    assert_eq!(of(&fold(&"Ab".repeat(9_000))), of(&fold(&"aB".repeat(9_000))));
    // A character at the border stays whole.
    for pad in 4_090..4_100 {
        let text = format!("{}é\u{1F600}Ａ", "x".repeat(pad));
        assert!(folded(&text).starts_with(&format!("{}é\u{1F600}", "x".repeat(pad))), "{pad}");
    }
}

/// The spellings of one name that a database or a mail system takes for one.
#[test]
fn fold_makes_one_of_what_looks_alike() {
    for written in [
        "alice",
        "Alice",
        "ALICE",
        " alice\t",
        "\u{A0}alice\u{3000}",
        "ali\u{AD}ce",
        "ali\u{200B}ce",
        "\u{FEFF}alice",
        "ａｌｉｃｅ",
        "\u{1D4EA}lice",
        "al\0ice",
        "al\u{131}ce",
        "AL\u{130}CE",
        "ali\u{307}ce",
        "ali\u{FE0F}ce",
        "\u{202E}alice",
        "a\u{34F}lice",
        "ali\u{2800}ce",
        "alice\u{FFFC}",
    ] {
        assert_eq!(of(&fold(written)), "alice", "{written:?}");
    }
    assert_eq!(of(&fold("STRASSE")), of(&fold("straße")));
    assert_eq!(of(&fold("ΣΑΣ")), of(&fold("σας")));
    assert_eq!(of(&fold("e\u{301}")), of(&fold("É")));
    assert_eq!(of(&fold("\u{FB01}n")), "fin");
    assert_eq!(of(&fold("a  b")), "a%20%20b");
    // Other names.
    for other in ["álice", "alice.", "аlice", "alice1"] {
        assert_ne!(of(&fold(other)), "alice", "{other}");
    }
    assert!(key().value(&fold("\u{200B} ")).finish().has_empty_value());
    assert_eq!(key().value_or(&fold(" "), "nobody").finish().as_str(), "nobody");
}

#[test]
fn prefix_gives_the_network() {
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    assert_eq!(of(&prefix(&ip("203.0.113.77"), 24, 64)), "203.0.113.0/24");
    assert_eq!(of(&prefix(&ip("203.0.113.77"), 32, 64)), "203.0.113.77/32");
    assert_eq!(of(&prefix(&ip("203.0.113.77"), 1, 64)), "128.0.0.0/1");
    assert_eq!(of(&prefix(&ip("203.0.113.77"), 0, 64)), "0.0.0.0/0");
    assert_eq!(of(&prefix(&ip("203.0.113.77"), 99, 64)), "203.0.113.77/32");
    assert_eq!(of(&prefix("203.0.113.77", 8, 64)), "203.0.0.0/8");
    assert_eq!(of(&prefix(&ip("::ffff:203.0.113.77"), 24, 64)), "203.0.113.0/24");
    assert_eq!(of(&prefix(&ip("2001:db8:1:2:3:4:5:6"), 24, 64)), "2001%3Adb8%3A1%3A2%3A%3A/64");
    assert_eq!(of(&prefix(&ip("2001:db8:1:2:3:4:5:6"), 24, 48)), "2001%3Adb8%3A1%3A%3A/48");
    assert_eq!(of(&prefix(&ip("2001:db8::1"), 24, 0)), "%3A%3A/0");
    assert_eq!(of(&prefix(&ip("2001:db8::1"), 24, 200)), "2001%3Adb8%3A%3A1/128");
    for written in ["203.0.113.77:80", " 203.0.113.77 ", "[::ffff:203.0.113.77]:443"] {
        assert_eq!(of(&prefix(written, 24, 64)), "203.0.113.0/24", "{written}");
    }
    assert_eq!(of(&prefix("unknown", 24, 64)), "unknown");
    assert!(key().value(&prefix("", 24, 64)).finish().has_empty_value());
}

#[test]
fn b080_translated_addresses_are_one_key() {
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    let written = [
        "8.8.8.8",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "64:ff9b:1::8.8.8.8",
        "::ffff:0:8.8.8.8",
        "2002:808:808:1::1",
        "2001:0:4136:e378:8000:63bf:f7f7:f7f7",
    ];
    for text in written {
        assert_eq!(of(&ip(text)), "8.8.8.8", "{text}");
        assert_eq!(of(&prefix(&ip(text), 32, 64)), "8.8.8.8/32", "{text}");
        assert_eq!(of(&prefix(text, 24, 64)), "8.8.8.0/24", "{text}");
        if let IpAddr::V6(v6) = ip(text) {
            assert_eq!(of(&v6), "8.8.8.8", "{text}");
            assert_eq!(of(&SocketAddr::from((v6, 1))), "8.8.8.8", "{text}");
        }
        let context = crate::RequestContext::builder().ip(ip(text)).build();
        assert_eq!(context.ip_key().as_str(), "8.8.8.8", "{text}");
        assert_eq!(context.ip(), Some(ip("8.8.8.8")), "{text}");
    }
    assert_ne!(of(&prefix(&ip("64:ff9b::909:909"), 32, 64)), of(&prefix(&ip(written[2]), 32, 64)));
}

#[test]
fn hash_is_an_hmac_with_the_limiters_secret() {
    // RFC 4231, test case 2, cut to 128 bits.
    let with = |secret: &[u8], text: &str| {
        KeyBuilder::with_secret(Some(secret)).value(&hash(text)).finish().as_str().to_owned()
    };
    let text = "what do ya want for nothing?";
    assert_eq!(with(b"Jefe", text), "5bdcc146bf60754e6a042426089575c7");
    assert_ne!(with(b"jefe", text), with(b"Jefe", text));

    let secret = || KeyBuilder::with_secret(Some(b"Jefe"));
    assert!(!secret().value(&hash(text)).finish().needs_secret());
    assert!(secret().value(&hash("")).finish().has_empty_value());
    assert_eq!(secret().value_or(&hash(""), "nobody").finish().as_str(), "nobody");
}

#[test]
fn a_missing_secret_is_noticed_wherever_it_was_needed() {
    assert!(key().value(&hash("a")).finish().needs_secret());
    assert!(key().value(&hash("")).finish().needs_secret());
    assert!(key().value(&lower(&hash("a"))).finish().needs_secret());
    assert!(key().value_or(&hash("a"), "nobody").finish().needs_secret());
    assert!(key().value_or("", &hash("a")).finish().needs_secret());
    assert!(KeyBuilder::with_secret(Some(b"")).value(&hash("a")).finish().needs_secret());
    assert!(!key().value("a").finish().needs_secret());
}

#[test]
fn debug_shows_no_contents() {
    assert_eq!(format!("{:?}", LimitKey::from("13800000000")), "LimitKey(11 bytes)");
}

#[test]
fn a_key_is_one_cache_line() {
    assert_eq!(size_of::<LimitKey>(), 64);
}

#[test]
fn up_to_200_bytes_are_kept_and_more_are_shortened() {
    assert_eq!(of(&"x".repeat(MAX)), "x".repeat(MAX));
    let long = of(&"x".repeat(MAX + 1));
    let (head, hash) = long.split_once("%~").unwrap();
    assert_eq!(head, "x".repeat(166));
    // printf 'x%.0s' $(seq 201) | sha256sum
    assert_eq!(hash, "84a0678c90937f5dcf9994d5866668da");
}

#[test]
fn the_head_ends_between_characters() {
    let head = |text: &str| {
        let key = of(text);
        assert!(key.len() <= MAX);
        key.split_once("%~").unwrap().0.to_owned()
    };
    for pad in 0..16 {
        let x = "x".repeat(150 + pad);
        let expected = |unit: &str| format!("{x}{}", unit.repeat((16 - pad) / unit.len()));
        assert_eq!(head(&format!("{x}{}", "é".repeat(100))), expected("é"));
        assert_eq!(head(&format!("{x}{}", "中".repeat(100))), expected("中"));
        assert_eq!(head(&format!("{x}{}", "😀".repeat(100))), expected("😀"));
        assert_eq!(head(&format!("{x}{}", ":".repeat(100))), expected("%3A"));
        assert_eq!(head(&format!("{x}{}", "\u{a0}".repeat(100))), expected("%C2%A0"));
        assert_eq!(head(&format!("{x}{}", "\u{3000}".repeat(100))), expected("%E3%80%80"));
        assert_eq!(head(&format!("{x}{}", "\u{e0001}".repeat(99))), expected("%F3%A0%80%81"));
    }
}

#[test]
fn long_values_that_differ_at_the_end_differ() {
    for size in [300, 102_400, 1_048_576] {
        let (mut a, mut b) = ("a".repeat(size - 1), "a".repeat(size - 1));
        a.push('x');
        b.push('y');
        let (a, b) = (of(&a), of(&b));
        assert_ne!(a, b);
        assert_eq!((a.len(), b.len()), (MAX, MAX));
    }
    // In pieces or in one, the text is the same.
    let pieces = LimitKey::from_parts(["0123456789"; 50]);
    let one = key().text(Box::leak(["0123456789"; 50].join(":").into_boxed_str())).finish();
    assert_eq!(pieces.as_str(), one.as_str());
}

#[test]
fn a_builder_can_be_used_again() {
    let mut key = KeyBuilder::with_secret(Some(b"Jefe"));
    assert!(key.text("a").value("").finish().has_empty_value());
    let again = key.value(&hash("b")).finish();
    assert!(!again.has_empty_value() && !again.needs_secret());
}

#[test]
fn own_types_write_themselves() {
    struct Version(u8, u8);
    impl KeyPart for Version {
        fn append_to(&self, key: &mut KeyWriter<'_>) {
            key.push_display(format_args!("{}.{}:x", self.0, self.1));
        }
    }
    assert_eq!(of(&Version(1, 2)), "1.2%3Ax");
    assert_eq!(LimitKey::from(Version(1, 2)).as_str(), "1.2%3Ax");
}

/// One step of building a key. The texts are those of the source, so they are part of the shape.
#[derive(Clone, Debug)]
enum Step {
    Text(&'static str),
    Value,
    ValueOr(&'static str),
    Part,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text =
        prop::sample::select(vec!["", "a", ":", ":a", "a:", "::", "%", "%3A", "{", " ", "中"]);
    let default = prop::sample::select(vec!["a", ":", "none", "%3A"]);
    let step = prop_oneof![
        2 => text.prop_map(Step::Text),
        4 => Just(Step::Value),
        2 => default.prop_map(Step::ValueOr),
        1 => Just(Step::Part),
    ];
    prop::collection::vec(step, 1..8)
}

/// Text of few different characters, so that accidents are likely.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => "[ab:%3A{} ~\u{3000}中]{0,4}",
        3 => any::<String>(),
        1 => "[a:]{150,260}",
    ]
}

/// The key of `shape` with these values (repeated from the start when there are too few), and the
/// values that went into it.
fn build(shape: &[Step], values: &[String]) -> (LimitKey, Vec<String>) {
    let mut values = values.iter().cycle();
    let mut used = Vec::new();
    let mut next = || values.next().cloned().unwrap_or_default();
    let mut key = key();
    for step in shape {
        match step {
            Step::Text(text) => key.text(text),
            Step::Part => key.part(),
            Step::Value => {
                used.push(next());
                key.value(used.last().unwrap())
            }
            Step::ValueOr(default) => {
                let value = Some(next()).filter(|value| !value.is_empty());
                key.value_or(&value, *default);
                used.push(value.unwrap_or_else(|| (*default).to_owned()));
                &mut key
            }
        };
    }
    (key.finish(), used)
}

/// Reads the values back out of a key that was not shortened.
fn values_of(shape: &[Step], key: &str) -> Vec<String> {
    let escaped = |text: &str| {
        let mut out = String::new();
        escape::escape(text, escape::Kind::Literal, |piece| out.push_str(piece));
        out
    };
    let (mut rest, mut values, mut after_value) = (key, Vec::new(), false);
    for step in shape {
        match step {
            Step::Text("") => {}
            Step::Text(text) => {
                if after_value && !text.starts_with(':') {
                    rest = rest.strip_prefix(':').unwrap();
                }
                rest = rest.strip_prefix(&escaped(text)).unwrap();
                after_value = false;
            }
            Step::Part => {
                rest = rest.strip_prefix(':').unwrap();
                after_value = false;
            }
            Step::Value | Step::ValueOr(_) => {
                if after_value {
                    rest = rest.strip_prefix(':').unwrap();
                }
                let (value, after) = rest.split_at(rest.find(':').unwrap_or(rest.len()));
                values.push(unescaped(value));
                (rest, after_value) = (after, true);
            }
        }
    }
    assert_eq!(rest, "");
    values
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b'%' {
            let hex = std::str::from_utf8(&after[..2]).unwrap();
            bytes.push(u8::from_str_radix(hex, 16).unwrap());
            rest = &after[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Injective by construction: the values can be read back.
    #[test]
    fn values_can_be_read_back(
        shape in steps(),
        values in prop::collection::vec(value(), 1..8),
    ) {
        let (key, used) = build(&shape, &values);
        prop_assert!(key.as_str().len() <= MAX);
        let forbidden = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '{' | '}');
        prop_assert_eq!(key.as_str().find(forbidden), None);
        if !key.as_str().contains("%~") {
            prop_assert_eq!(values_of(&shape, key.as_str()), used.as_slice());
        }
        let has_value = shape.iter().any(|step| !matches!(step, Step::Text("")));
        prop_assert_eq!(key.has_empty_value(), !has_value || used.contains(&String::new()));
    }

    /// Long ones included: two lists of values never give one key, however alike they are.
    #[test]
    fn different_values_give_different_keys(
        shape in steps(),
        values in prop::collection::vec(value(), 2..8),
        edit in edit(),
    ) {
        let (one, one_used) = build(&shape, &values);
        let (two, two_used) = build(&shape, &edited(values, &edit));
        prop_assert_eq!(one.as_str() == two.as_str(), one_used == two_used);
    }
}

/// How one list of values becomes another that is hard to tell from it.
#[derive(Clone, Debug)]
enum Edit {
    /// The last character of one is another, so that only the hash of a long key shows it.
    LastCharacter(prop::sample::Index),
    /// The end of one goes to the start of the next, with something in between or not.
    Border(prop::sample::Index, prop::sample::Index, &'static str),
}

fn edit() -> impl Strategy<Value = Edit> {
    let between = prop::sample::select(vec!["", ":", "%3A", "%", "a"]);
    let border = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), between);
    prop_oneof![
        1 => any::<prop::sample::Index>().prop_map(Edit::LastCharacter),
        3 => border.prop_map(|(value, at, between)| Edit::Border(value, at, between)),
    ]
}

fn edited(mut values: Vec<String>, edit: &Edit) -> Vec<String> {
    match edit {
        Edit::LastCharacter(value) => {
            let value = value.index(values.len());
            let last = values[value].pop();
            values[value].push(if last == Some('a') { 'b' } else { 'a' });
        }
        Edit::Border(value, at, between) => {
            let value = value.index(values.len() - 1);
            let borders = values[value].char_indices().map(|(at, _)| at).chain([0]);
            let at = *at.get(&borders.collect::<Vec<_>>());
            let end = values[value].split_off(at);
            values[value + 1].insert_str(0, &(end + between));
        }
    }
    values
}

#[cfg(feature = "uuid")]
#[test]
fn uuids_are_written_as_people_write_them() {
    let id = uuid::Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
    let key = KeyBuilder::new().value(&id).finish();
    assert_eq!(key.as_str(), "01234567-89ab-cdef-0123-456789abcdef");
}
