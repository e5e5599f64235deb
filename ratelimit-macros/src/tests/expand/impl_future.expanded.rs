fn find(id: u64) -> impl Future<Output = Result<u8, Error>> {
    async move {
        if let ::core::result::Result::Err(limited) = {
            static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
                "f",
                ::ratelimit_kit::Algorithm::TokenBucket {
                    capacity: 1,
                    refill: ::ratelimit_kit::Rate::per_second(1),
                },
            );
            let mut call = ::ratelimit_kit::__private::Call::new();
            call.check(
                &__RATE_LIMIT_RULE,
                ::ratelimit_kit::__private::KeyBuilder::new().value(&id).finish(),
            );
            call.run()
        }
            .await
        {
            return ::ratelimit_kit::__private::reject(limited);
        }
        let _ = (id,);
        Ok(1)
    }
}
