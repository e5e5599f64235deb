/// Checks a code.
#[rate_limit(name = "verify", key = "phone", algo = fixed_window, limit = 1, window = 60)]
fn verify(phone: &str, code: u32) -> Result<bool, Error> {
    #![allow(unused)]
    Ok(code == 7)
}
