//! Quantities as other limiters write them in text, `5 per minute`, `5r/s`, `PT1M`, and how they
//! are written here.

use crate::quantity::decimal;
use crate::scan::{MICROS_PER_SECOND, in_units, unit};
use crate::words;

/// What is counted, between a number and its time.
const COUNTED: &[&str] = &[
    "r", "req", "reqs", "request", "requests", "call", "calls", "permit", "permits", "token",
    "tokens", "hit", "hits", "time", "times", "x", "op", "ops", "query", "queries", "msg",
    "message", "messages", "attempt", "attempts",
];

/// What joins a number and its time. A slash is read as `per`.
const JOINING: &[&str] = &["per", "a", "an", "every", "each", "in", "within", "any", "the", "one"];

/// Words for a number and its unit at once.
const AT_ONCE: &[(&str, &str)] = &[
    ("rps", "s"),
    ("qps", "s"),
    ("tps", "s"),
    ("rpm", "min"),
    ("qpm", "min"),
    ("tpm", "min"),
    ("rph", "h"),
    ("rpd", "d"),
];

/// `5 per minute` as `5/min`.
pub(crate) fn rate(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some((count, time)) = text.split_once('/')
        && let (Ok(count), Some(micros)) = (count.trim().parse::<u64>(), iso(time.trim()))
    {
        return Some(per(count, micros));
    }
    if let Some(micros) = iso(text) {
        return Some(per(1, micros));
    }
    let words = split(text.strip_prefix("throttle:").unwrap_or(text))?;
    let (count, rest) = match words.as_slice() {
        [first, rest @ ..] => match (first.parse().ok(), first.as_str()) {
            (Some(count), _) => (count, rest),
            (None, "once" | "one") => (1, rest),
            (None, "twice") => (2, rest),
            (None, "every" | "each") => (1, words.as_slice()),
            _ => return None,
        },
        [] => return None,
    };
    if let [word] = rest
        && let Some((_, unit)) = AT_ONCE.iter().find(|(known, _)| known == word)
    {
        return Some(format!("{count}/{unit}"));
    }
    // Laravel counts in minutes.
    if let ([minutes], true) = (rest, text.starts_with("throttle:")) {
        return Some(per(count, minutes.parse::<u64>().ok()?.checked_mul(60 * MICROS_PER_SECOND)?));
    }
    let rest = after(rest, COUNTED);
    time(after(rest, JOINING)).map(|micros| per(count, micros))
}

/// `PT1M`, `minute` and `every 5 minutes` as `1min` and `5min`.
pub(crate) fn duration(text: &str) -> Option<String> {
    let text = text.trim();
    let micros = match iso(text) {
        Some(micros) => micros,
        None => time(after(&split(text)?, JOINING))?,
    };
    Some(amount(micros))
}

/// `1.5h`, `1h 30min`, `1h30` and `0.5/s` in one whole number and one unit.
pub(crate) fn exact(text: &str) -> Option<String> {
    let Some((permits, period)) = text.split_once('/') else {
        return sum(text.trim()).map(amount);
    };
    let (over, under) = decimal(permits.trim())?;
    let period = period.trim();
    let period = if period.starts_with(|c: char| c.is_ascii_digit()) {
        sum(period)?
    } else {
        micros_of(period)?
    };
    (over > 0).then_some(per(over, period.checked_mul(under)?))
}

/// The sum of numbers with their units. Minutes may stand without theirs behind hours, `1h30`.
fn sum(text: &str) -> Option<u64> {
    let (mut rest, mut sum, mut last) = (text, 0_u64, 0);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        let unit = match word {
            "" if last == micros_of("h")? && after.is_empty() => micros_of("min")?,
            word => micros_of(word)?,
        };
        // `5s 3min` is no time of anybody.
        if last != 0 && unit >= last {
            return None;
        }
        let (over, under) = decimal(number)?;
        let all = over.checked_mul(unit)?;
        sum = sum.checked_add(all.is_multiple_of(under).then_some(all / under)?)?;
        (rest, last) = (after.trim_start(), unit);
    }
    (sum > 0).then_some(sum)
}

/// `00:01:00`, as hours, minutes and seconds.
pub(crate) fn clock(text: &str) -> Option<String> {
    let mut seconds = 0_u64;
    let parts: Vec<&str> = text.trim().split(':').collect();
    if parts.len() != 3 {
        return None;
    }
    for part in parts {
        if part.is_empty() || !part.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        seconds = seconds.checked_mul(60)?.checked_add(part.parse().ok()?)?;
    }
    seconds.checked_mul(MICROS_PER_SECOND).filter(|micros| *micros > 0).map(amount)
}

/// `1000 requests`, `1,000` and `1k` as 1000.
pub(crate) fn count(text: &str) -> Option<u64> {
    let words = split(text)?;
    let (count, rest) = words.split_first()?;
    let count = count.parse::<u64>().ok()?;
    let (times, rest) = match rest {
        [word, rest @ ..] if word == "k" || word == "thousand" => (1_000, rest),
        [word, rest @ ..] if word == "m" || word == "million" => (1_000_000, rest),
        rest => (1, rest),
    };
    count.checked_mul(times).filter(|_| after(rest, COUNTED).is_empty())
}

/// Whether a word says that there is no limit.
pub(crate) fn is_unlimited(word: &str) -> bool {
    matches!(
        &*word.trim().to_lowercase(),
        "unlimited"
            | "infinite"
            | "infinity"
            | "inf"
            | "max"
            | "no limit"
            | "nolimit"
            | "unbounded"
    )
}

/// `5 minutes` in microseconds.
fn time(words: &[String]) -> Option<u64> {
    match words {
        [unit] => micros_of(unit),
        [times, unit] => times.parse::<u64>().ok()?.checked_mul(micros_of(unit)?),
        _ => None,
    }
    .filter(|micros| *micros > 0)
}

/// The microseconds of a unit, by any of its names.
pub(crate) fn micros_of(word: &str) -> Option<u64> {
    let day = unit("d")?;
    match word {
        "w" | "week" | "weeks" | "weekly" => day.checked_mul(7),
        "hourly" => unit("h"),
        "daily" => Some(day),
        _ => unit(word).or_else(|| match words::unit(word)? {
            // A nanosecond is not a microsecond.
            (_, _) if word.starts_with('n') => None,
            (meant, _) => unit(meant),
        }),
    }
}

/// `PT1H30M`, as ISO 8601 has it, in microseconds.
fn iso(text: &str) -> Option<u64> {
    let text = text.to_ascii_uppercase();
    let mut rest = text.strip_prefix('P')?;
    let (mut sum, mut in_day) = (0_u64, false);
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix('T') {
            (rest, in_day) = (time, true);
            continue;
        }
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (times, unit_on) = rest.split_at(digits);
        let name = unit_on.chars().next()?;
        let word = match (name, in_day) {
            ('W', false) => "week",
            ('D', false) => "d",
            ('H', true) => "h",
            ('M', true) => "min",
            ('S', true) => "s",
            _ => return None,
        };
        let micros = times.parse::<u64>().ok()?.checked_mul(micros_of(word)?)?;
        sum = sum.checked_add(micros)?;
        rest = unit_on.get(1..)?;
    }
    (sum > 0).then_some(sum)
}

/// As a duration is written.
pub(crate) fn amount(micros: u64) -> String {
    let (times, unit) = in_units(micros);
    format!("{times}{unit}")
}

fn per(count: u64, micros: u64) -> String {
    match in_units(micros) {
        (1, unit) => format!("{count}/{unit}"),
        (times, unit) => format!("{count}/{times}{unit}"),
    }
}

fn after<'w>(words: &'w [String], skipped: &[&str]) -> &'w [String] {
    let count = words.iter().take_while(|word| skipped.contains(&word.as_str())).count();
    words.get(count..).unwrap_or_default()
}

/// Numbers and words in small letters; `None` for what has other signs in it.
fn split(text: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_in_number =
            before.is_ascii_digit() && chars.peek().is_some_and(char::is_ascii_digit);
        match c {
            '_' if is_in_number => continue,
            ',' if is_in_number && chars.clone().take_while(char::is_ascii_digit).count() == 3 => {
                continue;
            }
            '/' => words.push("per".to_owned()),
            ' ' | ':' | ',' | '_' | '\t' => {}
            c if c.is_alphanumeric() => {
                let goes_on =
                    before.is_alphanumeric() && before.is_ascii_digit() == c.is_ascii_digit();
                match words.last_mut() {
                    Some(word) if goes_on => word.extend(c.to_lowercase()),
                    _ => words.push(c.to_lowercase().collect()),
                }
            }
            _ => return None,
        }
        before = c;
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_others() {
        for (text, here) in [
            ("5r/s", "5/s"),
            ("5rpm", "5/min"),
            ("5 rps", "5/s"),
            ("5 per minute", "5/min"),
            ("5_per_minute", "5/min"),
            ("1,000 requests per hour", "1000/h"),
            ("10 in 60s", "10/min"),
            ("once every 15 seconds", "1/15s"),
            ("every 15s", "1/15s"),
            ("twice a day", "2/d"),
            ("5/PT1M", "5/min"),
            ("PT15S", "1/15s"),
            ("throttle:60,1", "60/min"),
            ("5 requests/2 weeks", "5/14d"),
        ] {
            assert_eq!(rate(text).as_deref(), Some(here), "{text}");
        }
        for text in ["", "fast", "5", "5/min/user", "0.5/s", "-5/s", "five a day", "every"] {
            assert_eq!(rate(text), None, "{text}");
        }
    }

    #[test]
    fn durations_and_counts_of_others() {
        for (text, here) in [
            ("PT1M", "1min"),
            ("pt1h30m", "90min"),
            ("P1DT12H", "36h"),
            ("P1W", "7d"),
            ("minute", "1min"),
            ("MINUTES", "1min"),
            ("per hour", "1h"),
            ("every 5 minutes", "5min"),
            ("daily", "1d"),
        ] {
            assert_eq!(duration(text).as_deref(), Some(here), "{text}");
        }
        for text in ["", "P", "P1M", "PT", "PT0S", "soon", "00:01:00", "ns", "PT1M1"] {
            assert_eq!(duration(text), None, "{text}");
        }
        for (text, here) in
            [("1000 requests", 1000), ("1,000", 1000), ("5k", 5000), ("2m", 2_000_000)]
        {
            assert_eq!(count(text), Some(here), "{text}");
        }
        for text in ["many", "5 apples", "1.5k", "99999999999999999999"] {
            assert_eq!(count(text), None, "{text}");
        }
    }
}
