fn f() -> Option<u8> {
    use std::cmp::max;
    const LEAST: u8 = 1;
    if let ::core::result::Result::Err(limited) = {
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
            "i",
            ::ratelimit_kit::Algorithm::TokenBucket {
                capacity: 1,
                refill: ::ratelimit_kit::Rate::per_second(1),
            },
        );
        let mut call = ::ratelimit_kit::__private::Call::new();
        call.check(&__RATE_LIMIT_RULE, ::ratelimit_kit::LimitKey::whole_rule());
        call.run_blocking()
    } {
        return ::ratelimit_kit::__private::reject(limited);
    }
    let most = max(LEAST, 2);
    fn later() {}
    Some(most)
}
