use ratelimit_kit::rate_limit;

struct Service;

impl Service {
    #[rate_limit(capacity = 1, refill = 1, on_limited = fallback(id))]
    fn find(&self, id: u64) -> u64 {
        id
    }

    fn fallback(&self, id: u64) -> u64 {
        id
    }
}

fn main() {}
