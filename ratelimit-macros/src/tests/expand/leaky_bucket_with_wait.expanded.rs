async fn checkout(cart: Cart) -> Result<Order, Error> {
    if let ::core::result::Result::Err(limited) = {
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
            "checkout",
            ::ratelimit_kit::Algorithm::LeakyBucket {
                capacity: 100,
                leak: ::ratelimit_kit::Rate::new(
                    1,
                    ::core::time::Duration::from_secs(15),
                ),
            },
        );
        let mut call = ::ratelimit_kit::__private::Call::new();
        call.wait(::core::time::Duration::from_secs(2));
        call.check(&__RATE_LIMIT_RULE, ::ratelimit_kit::LimitKey::whole_rule());
        call.run()
    }
        .await
    {
        return ::ratelimit_kit::__private::reject(limited);
    }
    pay(cart).await
}
