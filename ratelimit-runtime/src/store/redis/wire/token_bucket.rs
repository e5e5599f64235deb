//! Token bucket.

use ratelimit_lua::Script;

use super::Wire;
use super::argument::Argument;
use super::bucket::{self, Bucket};
use super::numbers::Numbers;
use crate::algo::{TokenBucket, TokenState, Verdict};
use crate::error::StoreError;

impl Wire for TokenBucket {
    const TAG: &'static str = "tb1";
    const LETTER: u8 = b't';
    const SCRIPT: &'static Script = &ratelimit_lua::TOKEN_BUCKET;

    fn limit(&self) -> u64 {
        self.0.capacity
    }

    fn encode(&self, argument: &mut Argument) {
        let Self(flow) = self;
        for number in
            [flow.capacity, flow.units_per_tick, flow.units_per_permit, bucket::recovery(flow)]
        {
            argument.add(number);
        }
    }

    fn state(&self, numbers: Numbers<'_>, _: Verdict) -> Result<Option<TokenState>, StoreError> {
        let state = |Bucket { last, amount, unit }| TokenState { last, tokens: amount, unit };
        Ok(Bucket::read(numbers)?.map(state))
    }
}
