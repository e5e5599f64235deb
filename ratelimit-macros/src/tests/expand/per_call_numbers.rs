#[rate_limit(
    name = "plan",
    key = "plan.tenant",
    algo = sliding_counter,
    limit = plan.limit,
    window = plan.window,
    sub_windows = 4,
    cost = items.len(),
    when = !plan.unlimited,
    mode = shadow,
    on_error = closed,
)]
fn import(plan: &Plan, items: &[Item]) -> Result<(), Error> {
    Ok(())
}
