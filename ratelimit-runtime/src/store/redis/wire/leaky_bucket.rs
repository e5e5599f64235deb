//! Leaky bucket.

use ratelimit_lua::Script;

use super::Wire;
use super::argument::Argument;
use super::bucket::{self, Bucket};
use super::numbers::Numbers;
use crate::algo::{LeakyBucket, LeakyState, Verdict};
use crate::error::StoreError;

impl Wire for LeakyBucket {
    const TAG: &'static str = "lb1";
    const LETTER: u8 = b'l';
    const SCRIPT: &'static Script = &ratelimit_lua::LEAKY_BUCKET;

    fn limit(&self) -> u64 {
        self.flow.capacity
    }

    fn encode(&self, argument: &mut Argument) {
        let Self { flow, longest } = self;
        let (queue, rest) = bucket::permits(flow, longest.unwrap_or(flow.full()));
        let recovery = bucket::recovery(flow);
        for number in
            [flow.capacity, flow.units_per_tick, flow.units_per_permit, recovery, queue, rest]
        {
            argument.add(number);
        }
    }

    fn state(&self, numbers: Numbers<'_>, _: Verdict) -> Result<Option<LeakyState>, StoreError> {
        let state = |Bucket { last, amount, unit }| LeakyState { last, level: amount, unit };
        Ok(Bucket::read(numbers)?.map(state))
    }
}
