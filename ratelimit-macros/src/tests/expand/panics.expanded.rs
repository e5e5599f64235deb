fn f() -> u8 {
    if let ::core::result::Result::Err(limited) = {
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
            "p",
            ::ratelimit_kit::Algorithm::TokenBucket {
                capacity: 1,
                refill: ::ratelimit_kit::Rate::per_second(1),
            },
        );
        let mut call = ::ratelimit_kit::__private::Call::new();
        call.check(&__RATE_LIMIT_RULE, ::ratelimit_kit::LimitKey::whole_rule());
        call.run_blocking()
    } {
        match panic!("too many") {}
    }
    1
}
