pub(crate) async fn upload(&mut self, user: u32) -> Result<(), Error> {
    if let ::core::result::Result::Err(limited) = {
        static __RATE_LIMIT_RULE: ::limits::kit::Rule = ::limits::kit::Rule::new(
            "upload",
            ::limits::kit::Algorithm::TokenBucket {
                capacity: 5,
                refill: ::limits::kit::Rate::per_second(1),
            },
        );
        let mut call = ::limits::kit::__private::Call::new();
        call.on(&self.limiter);
        call.group(
            ::limits::kit::__private::KeyBuilder::new().value(&(self.tenant)).finish(),
        );
        call.check(
            &__RATE_LIMIT_RULE,
            ::limits::kit::__private::KeyBuilder::new()
                .value(&(self.tenant))
                .part()
                .value(&(user))
                .finish(),
        );
        call.run()
    }
        .await
    {
        return ::limits::kit::__private::reject(limited);
    }
    Ok(())
}
