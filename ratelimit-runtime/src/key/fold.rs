//! One form of text that people write in many ways.

use unicode_normalization::UnicodeNormalization;

use super::escape::is_invisible;
use super::mark;

/// How many bytes of what is seen of a text are folded. NFKC makes up to eleven of one, and a name is shorter.
const LONGEST: usize = 4096;

/// The text as people compare it: in Unicode's form NFKC, which makes one of full width, ligatures and accents in
/// one piece or two; without the difference of capitals; without what cannot be seen; without the blanks around
/// it. Accents stay, and so do letters of other scripts that look alike.
///
/// What is behind [`LONGEST`] bytes is only in small letters of ASCII: a caller may send a text as large as a
/// request, and what is to be done for each character there should be little.
pub(super) fn folded(text: &str) -> String {
    let text = mark::without_nul(text);
    let seen: String = text.chars().filter(|c| is_seen(*c)).collect();
    let seen = seen.trim();
    let (head, rest) = match seen.len() {
        ..=LONGEST => (seen, ""),
        _ => seen.split_at(mark::floor_boundary(seen, LONGEST)),
    };
    // By way of capitals: so `ß` is `ss`, and the two small sigmas are one. Small letters come first, because the
    // capital `ẞ` has no other capitals than itself.
    let small = head.nfkc().flat_map(char::to_lowercase);
    let same_case = small.flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    let mut before = '\0';
    // An i is one with its dot and without, which is how Turkish tells two letters apart.
    let dotless = same_case.filter(|c| {
        let is_dot = *c == '\u{307}' && before == 'i';
        if !is_dot {
            before = *c;
        }
        !is_dot
    });
    // What NFKC makes of something may be unseen.
    let mut folded: String = dotless.filter(|c| is_seen(*c)).nfkc().collect();
    folded.extend(rest.chars().map(|c| c.to_ascii_lowercase()));
    folded.trim().to_owned()
}

/// The same for ASCII, in place of a table of all characters.
pub(super) fn folded_ascii(text: &str) -> impl Iterator<Item = char> {
    text.trim().chars().filter(|c| !is_unseen(*c)).map(|c| c.to_ascii_lowercase())
}

/// The decimal digits of the text, of any script, as those of ASCII.
pub(super) fn digits(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter_map(|c| char::from_digit(decimal(c)?, 10))
}

/// Whether it shows something, or is the mark of a byte that is no text: a header with such a byte is another
/// one than without.
fn is_seen(c: char) -> bool {
    c == '\0' || !is_unseen(c)
}

/// Whether it shows nothing: controls, marks of direction, joiners, fillers, what stands for something that is not
/// there and the like. Blanks are another thing: they show that they are there.
fn is_unseen(c: char) -> bool {
    let shows_nothing = matches!(
        c,
        '\u{34F}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{FFFC}'
            | '\u{E0000}'..='\u{E0FFF}'
    );
    shows_nothing || is_invisible(c) || (c.is_control() && !c.is_whitespace())
}

/// Where the digits 0 to 9 of scripts begin, in order: Unicode has them in tens.
const ZEROS: [char; 74] = [
    '\u{660}',
    '\u{6F0}',
    '\u{7C0}',
    '\u{966}',
    '\u{9E6}',
    '\u{A66}',
    '\u{AE6}',
    '\u{B66}',
    '\u{BE6}',
    '\u{C66}',
    '\u{CE6}',
    '\u{D66}',
    '\u{DE6}',
    '\u{E50}',
    '\u{ED0}',
    '\u{F20}',
    '\u{1040}',
    '\u{1090}',
    '\u{17E0}',
    '\u{1810}',
    '\u{1946}',
    '\u{19D0}',
    '\u{1A80}',
    '\u{1A90}',
    '\u{1B50}',
    '\u{1BB0}',
    '\u{1C40}',
    '\u{1C50}',
    '\u{A620}',
    '\u{A8D0}',
    '\u{A900}',
    '\u{A9D0}',
    '\u{A9F0}',
    '\u{AA50}',
    '\u{ABF0}',
    '\u{FF10}',
    '\u{104A0}',
    '\u{10D30}',
    '\u{10D40}',
    '\u{11066}',
    '\u{110F0}',
    '\u{11136}',
    '\u{111D0}',
    '\u{112F0}',
    '\u{11450}',
    '\u{114D0}',
    '\u{11650}',
    '\u{116C0}',
    '\u{116D0}',
    '\u{116DA}',
    '\u{11730}',
    '\u{118E0}',
    '\u{11950}',
    '\u{11BF0}',
    '\u{11C50}',
    '\u{11D50}',
    '\u{11DA0}',
    '\u{11F50}',
    '\u{16A60}',
    '\u{16AC0}',
    '\u{16B50}',
    '\u{16D70}',
    '\u{1CCF0}',
    '\u{1D7CE}',
    '\u{1D7D8}',
    '\u{1D7E2}',
    '\u{1D7EC}',
    '\u{1D7F6}',
    '\u{1E140}',
    '\u{1E2F0}',
    '\u{1E4F0}',
    '\u{1E5F1}',
    '\u{1E950}',
    '\u{1FBF0}',
];

fn decimal(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    let above = ZEROS.partition_point(|zero| *zero <= c);
    let zero = ZEROS.get(above.checked_sub(1)?)?;
    Some(u32::from(c) - u32::from(*zero)).filter(|value| *value < 10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::text::Text;
    use super::*;

    /// As functions get it.
    fn folded(text: &str) -> String {
        let mut marked = Text::new();
        mark::push_text(&mut marked, text);
        super::folded(marked.as_str())
    }

    #[test]
    fn digits_come_in_tens() {
        assert!(ZEROS.is_sorted());
        for zero in ZEROS {
            for value in 0..10 {
                let digit = char::from_u32(u32::from(zero) + value).unwrap();
                assert_eq!(decimal(digit), Some(value), "{digit:?}");
                assert!(digit.is_numeric(), "{digit:?}");
            }
        }
        // All that there are, by their decomposition or by themselves.
        for c in
            ['\u{B2}', '\u{2460}', '\u{BD}', '\u{3007}', '\u{4E00}', '\u{2160}', 'a', '\u{10FFFF}']
        {
            assert_eq!(decimal(c), None, "{c:?}");
        }
    }

    /// All characters that random texts hit once in a thousand runs. Planes 4 to 13 have none.
    #[test]
    fn every_character_is_folded_once_and_in_either_case() {
        for c in ('\0'..='\u{3FFFF}').chain('\u{E0000}'..='\u{E0FFF}') {
            let text = c.to_string();
            let once = folded(&text);
            assert_eq!(folded(&once), once, "{c:?}");
            assert_eq!(folded(&text.to_uppercase()), once, "{c:?}");
            assert_eq!(folded(&text.to_lowercase()), once, "{c:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5_000) })]

        #[test]
        fn what_is_folded_stays(text in any::<String>()) {
            let once = folded(&text);
            prop_assert_eq!(&folded(&once), &once);
        }

        #[test]
        fn ascii_is_folded_alike(text in "[ -~\\x00-\\x1f]{0,20}") {
            let quickly: String = folded_ascii(&text).collect();
            prop_assert_eq!(quickly.trim(), folded(&text));
        }

        #[test]
        fn capitals_make_no_difference(text in any::<String>()) {
            prop_assert_eq!(folded(&text.to_uppercase()), folded(&text));
        }
    }
}
