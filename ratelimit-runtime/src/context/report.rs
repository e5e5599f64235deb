//! What the response to a request says of the decisions that were made for it.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;

use crate::algo::Answer;
use crate::responses::Spread;
use crate::rule::{Check, HeaderItem};

/// Of so many names something is kept: a request that makes decisions for hours must not grow, and its
/// response has to get through proxies that take a few thousand bytes of header fields.
const MAX_NAMES: usize = 64;

/// What rules said. Most calls have one.
pub(crate) type Reports = SmallVec<[RuleReport; 1]>;

/// What one rule said, as far as a client sees it.
#[derive(Clone, Debug)]
pub(crate) struct RuleReport {
    /// The name and the numbers in force.
    pub(crate) item: Arc<HeaderItem>,
    pub(crate) limit: u64,
    pub(crate) remaining: u64,
    admitted: bool,
    /// Until the call is admitted, if it was not; else until all is there again. `None`: no wait
    /// will do.
    wait_ms: Option<u64>,
}

impl RuleReport {
    pub(super) fn new(check: &Check<'_>, answer: &Answer, spread: Spread) -> Self {
        let rule = check.rule();
        // Only a name that a person wrote.
        let name = rule.has_written_name().then(|| rule.name());
        let item = || HeaderItem::new(name, answer.limit, check.algorithm());
        // The limit is another one where a store fails and each instance has a share of it.
        let is_as_written = !check.has_own_numbers() && answer.limit == rule.written().limit();
        let item = if is_as_written { rule.header_item(item).clone() } else { Arc::new(item()) };
        let wait_ms = if answer.admitted {
            Some(answer.reset_after_ms)
        } else {
            let longer = |ms| spread.seconds(Duration::from_millis(ms)).saturating_mul(1_000);
            answer.retry_after_ms.map(|ms| if spread.is_on() { longer(ms) } else { ms })
        };
        Self {
            item,
            limit: answer.limit,
            remaining: answer.remaining,
            admitted: answer.admitted,
            wait_ms,
        }
    }

    /// Adds it to what was reported before: of one name only what stops the client first, as nothing
    /// else is shown, and of too many names those that do.
    pub(super) fn add_to(self, reports: &mut Reports) {
        let (full, name) = (reports.len() >= MAX_NAMES, &self.item.name);
        let other = if reports.iter().any(|report| report.item.name == *name) {
            reports.iter_mut().find(|report| report.item.name == self.item.name)
        } else if full {
            reports.iter_mut().max_by_key(|report| report.rank())
        } else {
            return reports.push(self);
        };
        if let Some(other) = other.filter(|other| self.rank() < other.rank()) {
            *other = self;
        }
    }

    /// In how many seconds there is more, rounded up: so a client that waits is not too early.
    pub(crate) fn reset_s(&self) -> Option<u64> {
        self.wait_ms.map(|ms| ms.div_ceil(1_000))
    }

    /// The rule that stops the client first comes first; of several, the one that stops it longest.
    pub(crate) fn rank(&self) -> (bool, u64, Reverse<(bool, Option<u64>)>) {
        (self.admitted, self.remaining, Reverse((self.wait_ms.is_none(), self.wait_ms)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::RequestContext;
    use crate::limiter::Limiter;
    use crate::rule::{Algorithm, Rule};

    fn reported(names: impl Iterator<Item = String>) -> Vec<(String, u64)> {
        let limiter = Limiter::builder().build().unwrap();
        let context = RequestContext::builder().with_reports().build();
        context.clone().scope_blocking(|| {
            for (n, name) in names.enumerate() {
                let window = Duration::from_mins(1);
                let limit = 10_000 - n as u64;
                let rule = Rule::named(name, Algorithm::FixedWindow { limit, window });
                limiter.check_blocking(&Check::new(&rule, "k")).unwrap();
            }
        });
        let name = |report: &RuleReport| report.item.name.trim_matches('"').to_owned();
        context.take_reports().iter().map(|report| (name(report), report.remaining)).collect()
    }

    #[test]
    fn of_one_name_only_what_stops_first_is_kept() {
        let twice = ["a", "b"].into_iter().cycle().take(1_000).map(str::to_owned);
        // The last calls of both had the lowest limits, and 499 before them.
        let left = [("a".to_owned(), 10_000 - 998 - 500), ("b".to_owned(), 10_000 - 999 - 500)];
        assert_eq!(reported(twice), left);
    }

    #[test]
    fn to_look_leaves_nothing() {
        let limiter = Limiter::builder().build().unwrap();
        let context = RequestContext::builder().with_reports().build();
        let window = Duration::from_mins(1);
        let rule = Rule::new("looked at", Algorithm::FixedWindow { limit: 5, window });
        let check = Check::new(&rule, "k");
        let looked = pollster::block_on(context.clone().scope(limiter.peek(&check))).unwrap();
        assert_eq!(looked.outcomes().first().map(crate::decision::Outcome::remaining), Some(5));
        assert!(context.take_reports().is_empty());
    }

    #[test]
    fn of_many_names_those_that_stop_first_are_kept() {
        let kept = reported((0..1_000).map(|n| n.to_string()));
        assert_eq!(kept.len(), MAX_NAMES);
        assert!(kept.contains(&("999".to_owned(), 10_000 - 999 - 1)));
        assert!(kept.iter().all(|(name, _)| name.parse::<usize>().unwrap() >= 1_000 - MAX_NAMES));
    }
}
