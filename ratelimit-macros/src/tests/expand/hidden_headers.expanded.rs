fn f() -> Result<(), Error> {
    if let ::core::result::Result::Err(limited) = {
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
                "all",
                ::ratelimit_kit::Algorithm::TokenBucket {
                    capacity: 20,
                    refill: ::ratelimit_kit::Rate::per_second(5),
                },
            )
            .hide_headers();
        let mut call = ::ratelimit_kit::__private::Call::new();
        call.check(&__RATE_LIMIT_RULE, ::ratelimit_kit::LimitKey::whole_rule());
        call.run_blocking()
    } {
        return ::ratelimit_kit::__private::reject(limited);
    }
    work()
}
