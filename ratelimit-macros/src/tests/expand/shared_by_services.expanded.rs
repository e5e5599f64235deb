async fn order(user: u64) -> Result<(), RateLimitError> {
    if let ::core::result::Result::Err(limited) = {
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
                "orders",
                ::ratelimit_kit::Algorithm::TokenBucket {
                    capacity: 20,
                    refill: ::ratelimit_kit::Rate::per_second(5),
                },
            )
            .with_service("shop");
        let mut call = ::ratelimit_kit::__private::Call::new();
        call.check(
            &__RATE_LIMIT_RULE,
            ::ratelimit_kit::__private::KeyBuilder::new().value(&user).finish(),
        );
        call.run()
    }
        .await
    {
        return ::ratelimit_kit::__private::reject(limited);
    }
    Ok(())
}
