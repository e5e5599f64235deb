#[rate_limit(key = "id", capacity = 1, refill = 1, on_limited = HttpResponse::TooManyRequests(), on_unavailable = |error| down(error))]
fn show(id: Path<u64>) -> impl Responder {
    load(*id)
}
