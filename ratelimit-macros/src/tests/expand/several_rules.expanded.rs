#[instrument]
///Transfers.
pub async fn transfer(user: u64, amount: u64) -> Result<(), Error> {
    if let ::core::result::Result::Err(limited) = {
        fn __rate_limit_path() -> &'static ::core::primitive::str {
            ::core::any::type_name_of_val(&__rate_limit_path)
        }
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::__private::unnamed_rule(
            __rate_limit_path,
            "#token_bucket,5,1/s",
            ::ratelimit_kit::Algorithm::TokenBucket {
                capacity: 5,
                refill: ::ratelimit_kit::Rate::per_second(1),
            },
        );
        static __RATE_LIMIT_RULE_2: ::ratelimit_kit::Rule = ::ratelimit_kit::__private::unnamed_rule(
            __rate_limit_path,
            "#fixed_window,100,1d",
            ::ratelimit_kit::Algorithm::FixedWindow {
                limit: 100,
                window: ::core::time::Duration::from_secs(86400),
            },
        );
        static __RATE_LIMIT_RULE_3: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
            "bank",
            ::ratelimit_kit::Algorithm::TokenBucket {
                capacity: 1000,
                refill: ::ratelimit_kit::Rate::per_minute(10000),
            },
        );
        let mut call = ::ratelimit_kit::__private::Call::new();
        call.check(
            &__RATE_LIMIT_RULE,
            ::ratelimit_kit::__private::KeyBuilder::new().value(&user).finish(),
        );
        call.check(
            &__RATE_LIMIT_RULE_2,
            ::ratelimit_kit::__private::KeyBuilder::new().value(&user).finish(),
        );
        call.check(&__RATE_LIMIT_RULE_3, ::ratelimit_kit::LimitKey::whole_rule());
        call.run()
    }
        .await
    {
        return ::ratelimit_kit::__private::reject(limited);
    }
    book(user, amount).await
}
