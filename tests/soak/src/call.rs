//! One call, as a node reports it.

use std::fmt;

/// The kinds of failures of a store, and what stands for anything else.
const CAUSES: [&str; 6] = ["deadline", "connection", "permission", "server", "reply", "other"];

/// One call. Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// Since the Unix epoch.
    pub(crate) start: u64,
    pub(crate) took: u64,
    /// How late the process was meanwhile, through no fault of its own.
    pub(crate) late: u64,
    /// Number of the [`Target`](crate::load::Target).
    pub(crate) target: usize,
    pub(crate) admitted: bool,
    /// Why the server did not decide, if so.
    pub(crate) degraded: Option<&'static str>,
}

impl Call {
    pub(crate) fn end(&self) -> u64 {
        self.start + self.took
    }

    /// Reads what `Display` writes.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let (start, took, late, target) = (number()?, number()?, number()?, number()?);
        let admitted = words.next()? == "admitted";
        let degraded = words.next().map(cause);
        Some(Self { start, took, late, target: target as usize, admitted, degraded })
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, took, late, target, admitted, degraded } = self;
        let answer = if *admitted { "admitted" } else { "refused" };
        write!(f, "{start} {took} {late} {target} {answer}")?;
        degraded.map_or(Ok(()), |cause| write!(f, " {cause}"))
    }
}

/// The kind of a failure.
pub(crate) fn cause(kind: &str) -> &'static str {
    CAUSES.into_iter().find(|known| *known == kind).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::Call;

    #[test]
    fn a_line_is_the_whole_call() {
        for line in ["17 2 3 4 admitted", "17 2 3 4 refused", "17 2 3 4 admitted deadline"] {
            assert_eq!(Call::read(line).unwrap().to_string(), line);
        }
        assert!(Call::read("17 2 3").is_none());
    }
}
