use ratelimit_kit::{Key, key};

fn counted(phone: &str) -> Key {
    key!("'sms:' + args[0]")
}

fn template(phone: &str) -> Key {
    key!("'sms:{phone}'")
}

fn empty() -> Key {
    key!()
}

fn unknown() -> Key {
    key!("'sms:' + phone")
}

fn unclosed(phone: &str) -> Key {
    key!("'sms: + phone")
}

fn more(phone: &str) -> Key {
    key!("phone", phone)
}

fn rust(phone: &str) -> Key {
    key!(phone)
}

fn main() {}
