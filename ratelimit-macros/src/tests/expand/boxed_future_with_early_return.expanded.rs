fn find<'a>(
    &'a self,
    id: &'a str,
    _unused: &str,
) -> Pin<Box<dyn Future<Output = Result<u8, Error>> + Send + 'a>> {
    static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
        "f",
        ::ratelimit_kit::Algorithm::TokenBucket {
            capacity: 1,
            refill: ::ratelimit_kit::Rate::per_second(1),
        },
    );
    ::ratelimit_kit::__private::Box::pin(async move {
        if let ::core::result::Result::Err(limited) = {
            let mut call = ::ratelimit_kit::__private::Call::new();
            call.check(&__RATE_LIMIT_RULE, ::ratelimit_kit::LimitKey::whole_rule());
            call.run()
        }
            .await
        {
            return ::ratelimit_kit::__private::reject(limited);
        }
        let future = ::ratelimit_kit::__private::build(move || -> Pin<
            Box<dyn Future<Output = Result<u8, Error>> + Send + 'a>,
        > {
            let _ = (&id, &self);
            if id.is_empty() {
                return Box::pin(ready(Ok(0)));
            }
            Box::pin(self.search(id))
        });
        future.await
    })
}
