//! Token bucket: full at first, a call takes tokens, they come back at a constant rate.

use super::flow::{Flow, convert};
use super::{Answer, Arithmetic, Charge, Refund, Timestamp, Verdict, div, saturate, since};

/// A token bucket compiled for a resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket(pub Flow);

/// What a token bucket keeps for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenState {
    /// When tokens were last taken.
    pub last: Timestamp,
    /// What was left then, in units of 1/`unit` token.
    pub tokens: u128,
    /// [`Flow::units_per_permit`] when this was written: a rule may get another rate.
    pub unit: u64,
}

/// The bucket at the instant at which a call reads it.
struct View {
    t: Timestamp,
    tokens: u128,
}

impl TokenBucket {
    fn view(&self, state: Option<&TokenState>, now: Timestamp) -> View {
        let full = self.0.full();
        let Some(state) = state else { return View { t: now, tokens: full } };
        let tokens = convert(state.tokens, state.unit, self.0.units_per_permit, div);
        let t =
            if self.0.is_from_a_reset_clock(state.last, now) { now } else { now.max(state.last) };
        View { t, tokens: full.min(tokens + self.0.accrued(since(t, state.last))) }
    }
}

impl Arithmetic for TokenBucket {
    type State = TokenState;

    fn admits(&self, state: Option<&TokenState>, now: Timestamp, cost: u64) -> bool {
        cost == 0 || self.view(state, now).tokens >= self.0.amount(cost)
    }

    fn charge(&self, state: Option<TokenState>, now: Timestamp, cost: u64) -> TokenState {
        let View { t, tokens } = self.view(state.as_ref(), now);
        let tokens = tokens.saturating_sub(self.0.amount(cost));
        TokenState { last: t, tokens, unit: self.0.units_per_permit }
    }

    fn rebase_if_clock_reset(&self, state: &mut TokenState, now: Timestamp) -> bool {
        self.0.rebase(&mut state.last, now)
    }

    fn answer(&self, state: Option<&TokenState>, now: Timestamp, verdict: Verdict) -> Answer {
        let flow = &self.0;
        let View { t, tokens } = self.view(state, now);
        let ahead = since(t, now);
        let missing = flow.amount(verdict.cost).saturating_sub(tokens);
        Answer {
            admitted: verdict.admitted,
            limit: flow.capacity,
            remaining: saturate(div(tokens, u128::from(flow.units_per_permit))),
            retry_after_ms: match verdict {
                Verdict { admitted: true, .. } => Some(0),
                Verdict { cost, .. } if cost > flow.capacity => None,
                Verdict { .. } => Some(flow.millis(ahead, missing)),
            },
            reset_after_ms: flow.millis(ahead, flow.full() - tokens),
            delay_ms: 0,
        }
    }

    fn charged_at(state: &TokenState) -> Timestamp {
        state.last
    }

    fn refund(&self, state: &mut TokenState, now: Timestamp, charge: Charge) -> Refund {
        if state.last < charge.at
            || self.0.is_from_a_reset_clock(state.last, now)
            || state.unit != self.0.units_per_permit
        {
            return Refund::Stands;
        }
        let missing = self.0.still_missing(charge.cost, since(state.last, charge.at));
        let tokens = missing.map(|missing| state.tokens + missing);
        // A bucket with more than fits in does not have the charge.
        let Some(tokens) = tokens.filter(|tokens| *tokens <= self.0.full()) else {
            return Refund::Stands;
        };
        state.tokens = tokens;
        Refund::Made
    }
}
