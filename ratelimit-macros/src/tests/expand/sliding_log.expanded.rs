fn write(line: &str) -> Option<()> {
    if let ::core::result::Result::Err(limited) = {
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
            "log",
            ::ratelimit_kit::Algorithm::SlidingLog {
                limit: 100,
                window: ::core::time::Duration::from_millis(250),
            },
        );
        let mut call = ::ratelimit_kit::__private::Call::new();
        call.check(&__RATE_LIMIT_RULE, ::ratelimit_kit::LimitKey::whole_rule())
            .cost(3u64);
        call.run_blocking()
    } {
        return ::ratelimit_kit::__private::reject(limited);
    }
    Some(())
}
