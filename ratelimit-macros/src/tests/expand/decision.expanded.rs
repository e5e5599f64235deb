async fn send(phone: &str) -> Result<u64, Error> {
    let decision = match {
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
            "sms",
            ::ratelimit_kit::Algorithm::TokenBucket {
                capacity: 20,
                refill: ::ratelimit_kit::Rate::per_second(5),
            },
        );
        let mut call = ::ratelimit_kit::__private::Call::new();
        call.check(
            &__RATE_LIMIT_RULE,
            ::ratelimit_kit::__private::KeyBuilder::new().value(&phone).finish(),
        );
        call.decide()
    }
        .await
    {
        ::core::result::Result::Ok(decided) => decided,
        ::core::result::Result::Err(limited) => {
            return ::ratelimit_kit::__private::reject(limited);
        }
    };
    Ok(decision.outcomes().len())
}
