fn import(plan: &Plan, items: &[Item]) -> Result<(), Error> {
    if let ::core::result::Result::Err(limited) = {
        static __RATE_LIMIT_RULE: ::ratelimit_kit::Rule = ::ratelimit_kit::Rule::new(
                "plan",
                ::ratelimit_kit::Algorithm::SlidingCounter {
                    limit: ::ratelimit_kit::__private::PER_CALL,
                    window: ::ratelimit_kit::__private::PER_CALL_WINDOW,
                    sub_windows: 4,
                },
            )
            .with_mode(::ratelimit_kit::Mode::Shadow)
            .with_on_error(::ratelimit_kit::OnError::Closed);
        let mut call = ::ratelimit_kit::__private::Call::new();
        let applies: ::core::primitive::bool = !plan.unlimited;
        if applies {
            call.check(
                    &__RATE_LIMIT_RULE,
                    ::ratelimit_kit::__private::KeyBuilder::new()
                        .value(&plan.tenant)
                        .finish(),
                )
                .cost(items.len())
                .limit(plan.limit)
                .window(plan.window);
        }
        call.run_blocking()
    } {
        return ::ratelimit_kit::__private::reject(limited);
    }
    Ok(())
}
