//! What a run found.

use std::fmt;

/// The result of running scenarios on one subject; printed, it is what a person needs to read.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the vectors were run on.
    pub subject: String,
    /// How many scenarios were run.
    pub scenarios: usize,
    /// How many calls were made.
    pub steps: usize,
    /// How many fields were compared.
    pub fields: usize,
    /// Where it differs from the vectors.
    pub mismatches: Vec<Mismatch>,
    /// What was not run.
    pub skipped: Vec<Skip>,
}

/// One field that is not as the vectors say.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The scenario's id.
    pub scenario: String,
    /// The step, or the time of a load.
    pub place: String,
    /// The field.
    pub field: &'static str,
    /// What the vectors say.
    pub expected: String,
    /// What the subject said.
    pub got: String,
}

/// A scenario that was not run.
#[derive(Clone, Debug)]
pub struct Skip {
    /// The scenario's id.
    pub scenario: String,
    /// Why not.
    pub why: String,
}

impl Report {
    pub(crate) fn new(subject: String) -> Self {
        Self {
            subject,
            scenarios: 0,
            steps: 0,
            fields: 0,
            mismatches: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Whether something was compared and everything agreed.
    pub fn passed(&self) -> bool {
        self.mismatches.is_empty() && self.fields > 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mismatch in &self.mismatches {
            writeln!(f, "mismatch {mismatch}")?;
        }
        for Skip { scenario, why } in &self.skipped {
            writeln!(f, "skipped {scenario}: {why}")?;
        }
        let Self { subject, scenarios, steps, fields, mismatches, skipped } = self;
        write!(
            f,
            "{subject}: {scenarios} scenarios, {steps} calls, {fields} fields, {} skipped, {} wrong",
            skipped.len(),
            mismatches.len(),
        )
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scenario, place, field, expected, got } = self;
        write!(f, "{scenario}, {place}: {field} is expected to be {expected}, got {got}")
    }
}
