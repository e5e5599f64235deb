async fn orders() -> Result<Vec<Order>, Error> {
    if let ::core::result::Result::Err(limited) = {
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
            "orders",
            ::ratelimit_kit::Algorithm::SlidingCounter {
                limit: 50,
                window: ::core::time::Duration::from_secs(3600),
                sub_windows: 10,
            },
        );
        let mut call = ::ratelimit_kit::__private::Call::new();
        call.check(&__RATE_LIMIT_RULE, ::ratelimit_kit::LimitKey::whole_rule());
        call.run()
    }
        .await
    {
        return ::ratelimit_kit::__private::reject(limited);
    }
    load().await
}
