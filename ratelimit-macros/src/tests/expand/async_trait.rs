#[rate_limit(key = "self.tenant + req.phone", capacity = 1, refill = 1, limiter = self.limiter)]
fn send<'life0, 'async_trait>(
    &'life0 self,
    __arg1: Json<Req>,
) -> ::core::pin::Pin<Box<dyn ::core::future::Future<Output = Result<(), Error>> + ::core::marker::Send + 'async_trait>>
where
    'life0: 'async_trait,
{
    Box::pin(async move {
        if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<Result<(), Error>> {
            #[allow(unreachable_code)]
            return __ret;
        }
        let __self = self;
        let Json(req) = {
            let __arg1 = __arg1;
            __arg1
        };
        let __ret: Result<(), Error> = { __self.gateway.send(req).await };
        #[allow(unreachable_code)]
        __ret
    })
}
