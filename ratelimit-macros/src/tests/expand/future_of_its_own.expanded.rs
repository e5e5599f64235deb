fn find(
    &self,
    id: u64,
    mut seen: Vec<u64>,
    _arg3: Permit,
) -> impl Future<Output = Result<u8, Error>> + use<'_> {
    const MOST: u64 = 9;
    static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
        "f",
        ::ratelimit_kit::Algorithm::TokenBucket {
            capacity: 1,
            refill: ::ratelimit_kit::Rate::per_second(1),
        },
    );
    async move {
        if let ::core::result::Result::Err(limited) = {
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
        let future = ::ratelimit_kit::__private::build(move || {
            let _ = (&_arg3, &seen, &id, &self);
            seen.push(id);
            self.search(seen).map_err(Error::from)
        });
        future.await
    }
}
