async fn send_sms(phone: &str) -> Result<Receipt, SmsError> {
    if let ::core::result::Result::Err(limited) = {
        fn __rate_limit_path() -> &'static ::core::primitive::str {
            ::core::any::type_name_of_val(&__rate_limit_path)
        }
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::__private::unnamed_rule(
            __rate_limit_path,
            "",
            ::ratelimit_kit::Algorithm::TokenBucket {
                capacity: 20,
                refill: ::ratelimit_kit::Rate::per_second(5),
            },
        );
        let mut call = ::ratelimit_kit::__private::Call::new();
        call.check(
            &__RATE_LIMIT_RULE,
            ::ratelimit_kit::__private::KeyBuilder::new()
                .text("sms:")
                .value(&phone)
                .finish(),
        );
        call.run()
    }
        .await
    {
        return ::ratelimit_kit::__private::reject(limited);
    }
    gateway().send(phone).await
}
