async fn price(id: u64) -> Price {
    if let ::core::result::Result::Err(limited) = {
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
            "quote",
            ::ratelimit_kit::Algorithm::TokenBucket {
                capacity: 5,
                refill: ::ratelimit_kit::Rate::per_second(1),
            },
        );
        let mut call = ::ratelimit_kit::__private::Call::new();
        call.check(&__RATE_LIMIT_RULE, ::ratelimit_kit::LimitKey::whole_rule());
        call.run()
    }
        .await
    {
        if ::core::matches!(limited, ::ratelimit_kit::RateLimitError::Unavailable(_)) {
            return ::ratelimit_kit::__private::answer(
                limited,
                |error| Price::unknown(error),
            );
        }
        return cached(id).await;
    }
    fetch(id).await
}
