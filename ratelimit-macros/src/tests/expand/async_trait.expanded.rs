fn send<'life0, 'async_trait>(
    &'life0 self,
    __arg1: Json<Req>,
) -> ::core::pin::Pin<
    Box<
        dyn ::core::future::Future<
            Output = Result<(), Error>,
        > + ::core::marker::Send + 'async_trait,
    >,
>
where
    'life0: 'async_trait,
{
    Box::pin(async move {
        if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
            Result<(), Error>,
        > {
            #[allow(unreachable_code)] return __ret;
        }
        let __self = self;
        let Json(req) = {
            let __arg1 = __arg1;
            __arg1
        };
        let __ret: Result<(), Error> = {
            if let ::core::result::Result::Err(limited) = {
                fn __rate_limit_path() -> &'static ::core::primitive::str {
                    ::core::any::type_name_of_val(&__rate_limit_path)
                }
                static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::__private::unnamed_rule(
                    __rate_limit_path,
                    "",
                    ::ratelimit_kit::Algorithm::TokenBucket {
                        capacity: 1,
                        refill: ::ratelimit_kit::Rate::per_second(1),
                    },
                );
                let mut call = ::ratelimit_kit::__private::Call::new();
                call.on(&__self.limiter);
                call.check(
                    &__RATE_LIMIT_RULE,
                    ::ratelimit_kit::__private::KeyBuilder::new()
                        .value(&__self.tenant)
                        .value(&req.phone)
                        .finish(),
                );
                call.run()
            }
                .await
            {
                return ::ratelimit_kit::__private::reject(limited);
            }
            __self.gateway.send(req).await
        };
        #[allow(unreachable_code)] __ret
    })
}
