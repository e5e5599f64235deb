//! The header fields that tell a client how much is left.

use std::fmt::Write as _;

use http::HeaderName;

use crate::context::RuleReport;
use crate::rule::MAX_INTEGER;

/// Which fields a response carries. They describe the rules of the call by their written names;
/// those without one are `default`, because paths of the code are nobody's business.
///
/// A structured field holds visible ASCII. Other bytes of a name are written as `%XX`, and so is a `%` that would look
/// like that: two names stay two. A rule that somebody has called `default` is `%64efault`. Of a name that takes more
/// than 128 bytes so, the head is shown, and a hash.
///
/// Drafts 6 and 11 both have a `RateLimit-Policy`: whoever asks for both gets that of the later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RateLimitHeaders {
    /// `RateLimit` and `RateLimit-Policy` as in draft 11 of the IETF's httpapi group: lists of
    /// structured fields, one entry for each rule.
    Draft11,
    /// `RateLimit-Limit`, `RateLimit-Remaining`, `RateLimit-Reset` and `RateLimit-Policy` of draft 6,
    /// for the rule with the least left.
    Draft6,
    /// `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`, in seconds from now, for
    /// the rule with the least left.
    XRateLimit,
}

static POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
static DRAFT_11: HeaderName = HeaderName::from_static("ratelimit");
static DRAFT_6: [HeaderName; 3] = [
    HeaderName::from_static("ratelimit-limit"),
    HeaderName::from_static("ratelimit-remaining"),
    HeaderName::from_static("ratelimit-reset"),
];
static X: [HeaderName; 3] = [
    HeaderName::from_static("x-ratelimit-limit"),
    HeaderName::from_static("x-ratelimit-remaining"),
    HeaderName::from_static("x-ratelimit-reset"),
];

impl RateLimitHeaders {
    /// Hands out the names and values for what was told about a request: of each name once.
    pub(crate) fn write(
        self,
        reports: &[RuleReport],
        mut put: impl FnMut(&'static HeaderName, &str),
    ) {
        let Some(least) = least(reports) else { return };
        let fitting;
        let reports = if reports.len() > FEW {
            fitting = self::fitting(reports);
            &*fitting
        } else {
            reports
        };
        match self {
            Self::Draft11 => {
                put(&POLICY, &list(reports, |list, report| list.push_str(&report.item.policy)));
                put(&DRAFT_11, &list(reports, write_left));
            }
            Self::Draft6 => {
                put_numbers(&DRAFT_6, least, MAX_INTEGER, &mut put);
                let policy = |list: &mut String, report: &RuleReport| {
                    let [limit, window_s] =
                        [report.limit, report.item.window_s].map(|number| number.min(MAX_INTEGER));
                    let _ = write!(list, "{limit};w={window_s}");
                };
                put(&POLICY, &list(reports, policy));
            }
            // Nobody has said how long these may be.
            Self::XRateLimit => put_numbers(&X, least, u64::MAX, put),
        }
    }
}

/// So many entries fit, whatever their names are.
const FEW: usize = 12;
/// Proxies take a few thousand bytes of header fields in all.
const MAX_LIST: usize = 4_096;

/// Those that fit into a field: of too many the ones that stop the client first, in the order in which they came.
fn fitting(reports: &[RuleReport]) -> Vec<RuleReport> {
    let mut order: Vec<usize> = (0..reports.len()).collect();
    order.sort_by_key(|n| reports.get(*n).map(RuleReport::rank));
    let mut room = MAX_LIST;
    order.retain(|n| {
        let length = reports
            .get(*n)
            .map_or(0, |report| report.item.policy.len().max(report.item.name.len() + 40) + 2);
        let fits = length <= room;
        room = room.saturating_sub(length);
        fits
    });
    order.sort_unstable();
    order.into_iter().filter_map(|n| reports.get(n).cloned()).collect()
}

/// The limit, what is left, and in how many seconds there is more; nothing larger than `max`.
fn put_numbers(
    names: &'static [HeaderName; 3],
    report: &RuleReport,
    max: u64,
    mut put: impl FnMut(&'static HeaderName, &str),
) {
    let numbers = [Some(report.limit), Some(report.remaining), report.reset_s()];
    for (name, number) in names.iter().zip(numbers) {
        if let Some(number) = number {
            put(name, itoa::Buffer::new().format(number.min(max)));
        }
    }
}

/// A list with one entry for each rule.
fn list(reports: &[RuleReport], write: impl Fn(&mut String, &RuleReport)) -> String {
    // Room for most lists, so that they do not grow word by word.
    let mut list = String::with_capacity(64 * reports.len());
    for report in reports {
        if !list.is_empty() {
            list.push_str(", ");
        }
        write(&mut list, report);
    }
    list
}

/// What is left, and when there is more. This changes with each call, and is no more than digits behind
/// the name.
fn write_left(list: &mut String, report: &RuleReport) {
    list.push_str(&report.item.name);
    let mut parameter = |name: &str, value: u64| {
        list.push_str(name);
        list.push_str(itoa::Buffer::new().format(value.min(MAX_INTEGER)));
    };
    parameter(";r=", report.remaining);
    if let Some(reset) = report.reset_s() {
        parameter(";t=", reset);
    }
}

/// The rule that stops the client first.
fn least(reports: &[RuleReport]) -> Option<&RuleReport> {
    reports.iter().min_by_key(|report| report.rank())
}
