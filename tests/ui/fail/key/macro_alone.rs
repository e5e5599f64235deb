use ratelimit_kit::{LimitKey, key};

fn counted(phone: &str) -> LimitKey {
    key!("'sms:' + args[0]")
}

fn template(phone: &str) -> LimitKey {
    key!("'sms:{phone}'")
}

fn empty() -> LimitKey {
    key!()
}

fn unknown() -> LimitKey {
    key!("'sms:' + phone")
}

fn unclosed(phone: &str) -> LimitKey {
    key!("'sms: + phone")
}

fn more(phone: &str) -> LimitKey {
    key!("phone", phone)
}

fn rust(phone: &str) -> LimitKey {
    key!(phone)
}

fn main() {}
