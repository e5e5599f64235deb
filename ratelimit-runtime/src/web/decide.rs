//! What a layer's own rules decide before a handler is asked.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Settings;
use crate::context::RequestContext;
use crate::decision::RateLimitError;
use crate::limiter::{Limiter, mistaken};
use crate::rule::{Check, Rule};

impl Settings {
    /// Whether there is something to decide before a handler is asked.
    pub(crate) fn has_rules_for(&self, context: &RequestContext) -> bool {
        !self.rules.is_empty() && !self.skip.iter().any(|skip| skip(context))
    }

    /// Decides by the layer's own rules, and waits for the turn of the request if it may. Dropped before its end,
    /// its caller has left, and what was charged is refunded.
    pub(crate) async fn decide(&self, context: &RequestContext) -> Result<(), RateLimitError> {
        let (rules, checks): (SmallVec<[&Arc<Rule>; 1]>, SmallVec<[Check<'_>; 1]>) = self
            .rules
            .iter()
            .filter_map(|of| Some((of.rule.rule(), of.rule.check(context, &*of.key, self.wait)?)))
            .unzip();
        if checks.is_empty() {
            return Ok(());
        }
        let of_scope = Limiter::of_scope();
        let limiter = match self.limiter.as_ref().or(of_scope.as_ref()) {
            Some(limiter) => limiter,
            None => Limiter::installed_for_call()?,
        };
        if !limiter.is_off() && !limiter.is_shadow() {
            for check in checks.iter().filter(|check| !check.is_shadow()) {
                check.rule().register_made().map_err(|error| mistaken(error.into()))?;
            }
        }
        let waits = self.wait.is_some();
        let entered = if waits {
            limiter.try_enter(&checks, true).map(|entered| entered.map(|(_, place)| place))
        } else {
            limiter.try_check_all(&checks).map(|decided| decided.map(|_| None))
        };
        let entered = match entered {
            Some(entered) => entered,
            None => limiter.enter_shared(&rules, &checks, waits).await,
        };
        if let Some(place) = entered? {
            place.turn().await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context as Task, Poll, Waker};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::clock::{Clock, ManualClock};
    use crate::rule::{Algorithm, Mode, Rate};
    use crate::store::late::Late;
    use crate::web::{LayerRule, RateLimitLayer};

    #[test]
    fn who_leaves_before_a_layer_has_its_answer_is_refunded() {
        for wait in [None, Some(Duration::from_secs(5))] {
            let (store, window) = (Late::new(), Duration::from_hours(1));
            let limiter = Limiter::builder().store(store.clone()).deadline(Duration::from_mins(1));
            let limiter = limiter.build().unwrap();
            let rule = Rule::named("leaves a layer", Algorithm::FixedWindow { limit: 9, window });
            let mut layer =
                RateLimitLayer::new().limiter(limiter).limit(rule.clone(), |_| "key".into());
            if let Some(wait) = wait {
                layer = layer.wait(wait);
            }
            let context = RequestContext::builder().build();
            let mut task = Task::from_waker(Waker::noop());
            let left = || {
                let check = [Check::new(&rule, "key").with_cost(0)];
                let answers = crate::store::Store::decide_now(&*store.store, &check);
                answers.unwrap().unwrap()[0].remaining
            };

            let mut stays = Box::pin(layer.settings.decide(&context));
            assert!(stays.as_mut().poll(&mut task).is_pending());
            store.answer();
            assert!(matches!(pin!(stays).poll(&mut task), Poll::Ready(Ok(()))));
            assert_eq!(left(), 8);

            let mut leaves = Box::pin(layer.settings.decide(&context));
            assert!(leaves.as_mut().poll(&mut task).is_pending());
            assert_eq!(left(), 7);
            drop(leaves);
            store.answer();
            let begun = Instant::now();
            while left() != 8 {
                assert!(begun.elapsed() < Duration::from_secs(10), "it is not refunded");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    fn line() -> Rule {
        let leak = Rate::per_second(1);
        Rule::named("a line", Algorithm::LeakyBucket { capacity: 5, leak })
    }

    fn on(clock: &ManualClock) -> Limiter {
        Limiter::builder().clock(Clock::Manual(clock.clone())).build().unwrap()
    }

    #[test]
    fn b163_who_leaves_the_line_of_a_layer_is_refunded() {
        let clock = ManualClock::new();
        let layer = RateLimitLayer::new()
            .limiter(on(&clock))
            .limit(line(), |_| "key".into())
            .wait(Duration::from_secs(2));
        let context = RequestContext::builder().build();
        let mut task = Task::from_waker(Waker::noop());
        let enter = || Box::pin(layer.settings.decide(&context));
        let (mut first, mut second, mut third) = (enter(), enter(), enter());
        assert!(matches!(first.as_mut().poll(&mut task), Poll::Ready(Ok(()))));
        assert!(second.as_mut().poll(&mut task).is_pending(), "a second behind the first");
        assert!(third.as_mut().poll(&mut task).is_pending());
        let refused = enter().as_mut().poll(&mut task);
        assert!(matches!(refused, Poll::Ready(Err(RateLimitError::Limited(_)))), "too long a wait");
        drop(second);
        let mut fourth = enter();
        assert!(fourth.as_mut().poll(&mut task).is_pending(), "there is room again");
        clock.advance(Duration::from_secs(2));
        assert!(third.as_mut().poll(&mut task).is_ready());
        assert!(fourth.as_mut().poll(&mut task).is_ready());
    }

    /// The same where the store had to be asked for the place.
    #[test]
    fn b163_who_leaves_the_line_after_the_stores_answer_is_refunded() {
        let store = Late::new();
        let limiter = Limiter::builder().store(store.clone()).deadline(Duration::from_mins(1));
        let layer = RateLimitLayer::new()
            .limiter(limiter.build().unwrap())
            .limit(line(), |_| "key".into())
            .wait(Duration::from_secs(2));
        let rule = line();
        let left = || {
            let check = [Check::new(&rule, "key").with_cost(0)];
            let answers = crate::store::Store::decide_now(&*store.store, &check);
            answers.unwrap().unwrap()[0].remaining
        };
        let context = RequestContext::builder().build();
        let mut task = Task::from_waker(Waker::noop());
        let mut enter = || {
            let mut decision = Box::pin(layer.settings.decide(&context));
            assert!(decision.as_mut().poll(&mut task).is_pending());
            store.answer();
            let is_in_line = decision.as_mut().poll(&mut task).is_pending();
            (decision, is_in_line)
        };
        let (first, waits) = enter();
        assert!(!waits);
        drop(first);
        let (second, waits) = enter();
        assert!(waits && left() == 3, "{} left", left());
        drop(second);
        assert_eq!(left(), 4);
    }

    #[test]
    fn without_a_wait_a_line_does_not_pace() {
        let clock = ManualClock::new();
        let layer = RateLimitLayer::new().limiter(on(&clock)).limit(line(), |_| "key".into());
        let context = RequestContext::builder().build();
        let decide = || pollster::block_on(layer.settings.decide(&context)).is_ok();
        assert_eq!((0..7).filter(|_| decide()).count(), 5);
    }

    /// What a request decides also stands in a question that its caller does not wait for.
    #[test]
    fn cost_numbers_and_mode_of_a_request() {
        let window = Duration::from_hours(1);
        let of = move |limit| Algorithm::FixedWindow { limit, window };
        let rule = || {
            LayerRule::from(Rule::named("each request", of(3)).with_mode(Mode::Shadow))
                .with_cost(|context| context.header("cost").map_or(1, |n| u64::from(n[0] - b'0')))
                .with_algorithm(move |context| of(if context.user().is_some() { 5 } else { 3 }))
                .with_mode(|context| match context.tenant() {
                    Some("off") => Mode::Off,
                    Some("shadow") => Mode::Shadow,
                    _ => Mode::Enforce,
                })
        };
        let late = Late::new();
        let now = Limiter::builder().clock(Clock::Manual(ManualClock::new())).build().unwrap();
        let asked = Limiter::builder().store(late.clone()).deadline(Duration::from_mins(1));
        let asked = asked.build().unwrap();
        for limiter in [now, asked] {
            let layer = RateLimitLayer::new().limiter(limiter).limit(rule(), |_| "key".into());
            let decide = |context: crate::context::RequestContextBuilder| {
                let context = context.build();
                let mut task = Task::from_waker(Waker::noop());
                let mut decision = Box::pin(layer.settings.decide(&context));
                let decided = match decision.as_mut().poll(&mut task) {
                    Poll::Ready(decided) => decided,
                    Poll::Pending => {
                        late.answer();
                        match decision.as_mut().poll(&mut task) {
                            Poll::Ready(decided) => decided,
                            Poll::Pending => panic!("it has no answer"),
                        }
                    }
                };
                decided.map_err(|error| error.http_status())
            };
            let plain = RequestContext::builder;
            assert_eq!(decide(plain().header("cost", "2")), Ok(()));
            assert_eq!(decide(plain().header("cost", "2")), Err(429));
            assert_eq!(decide(plain().header("cost", "4")), Err(400));
            // A larger limit for those who are somebody: 2 of 5 are used.
            assert_eq!(decide(plain().header("cost", "4").user("ann")), Err(429));
            assert_eq!(decide(plain().header("cost", "4").tenant("shadow").user("ann")), Ok(()));
            assert_eq!(decide(plain().header("cost", "9").tenant("off")), Ok(()));
            assert_eq!(decide(plain().header("cost", "9").tenant("shadow")), Ok(()));
            assert_eq!(decide(plain().header("cost", "3").user("ann")), Ok(()));
            assert_eq!(decide(plain().user("ann")), Err(429));
        }
    }
}
