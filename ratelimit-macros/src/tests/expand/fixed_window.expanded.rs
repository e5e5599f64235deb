/// Checks a code.
fn verify(phone: &str, code: u32) -> Result<bool, Error> {
    #![allow(unused)]
    if let ::core::result::Result::Err(limited) = {
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
            "verify",
            ::ratelimit_kit::Algorithm::FixedWindow {
                limit: 1,
                window: ::core::time::Duration::from_secs(60),
            },
        );
        let mut call = ::ratelimit_kit::__private::Call::new();
        call.check(
            &__RATE_LIMIT_RULE,
            ::ratelimit_kit::__private::KeyBuilder::new().value(&phone).finish(),
        );
        call.run_blocking()
    } {
        return ::ratelimit_kit::__private::reject(limited);
    }
    Ok(code == 7)
}
