//! Mistakes in the form of arguments and in keys in Rust: one error each, which says what to write.

use super::habits::{SEND, compile, errors, hold, hold_keys};

/// The same with numbers that are right.
fn hold_beside_numbers(function: &str, cases: &[(&str, &str)]) {
    let cases: Vec<(String, &str)> = cases
        .iter()
        .map(|(arguments, says)| (format!("{arguments}, capacity = 20, refill = 5"), *says))
        .collect();
    let cases: Vec<(&str, &str)> = cases.iter().map(|(all, says)| (all.as_str(), *says)).collect();
    hold(function, &cases);
}

fn compile_beside_numbers(function: &str, cases: &[&str]) {
    for arguments in cases {
        compile(function, &[&format!("{arguments}, capacity = 20, refill = 5")]);
    }
}

/// A constant has another text than its name: `name = "SMS_NAME"` would be another rule.
#[test]
fn a_constant_as_a_name_is_not_put_in_quotes() {
    let said = errors("name = SMS_NAME, capacity = 20, refill = 5", SEND);
    assert_eq!(said, ["`name` takes a text in quotes"]);
}

#[test]
fn f29_a_key_in_a_name() {
    hold_beside_numbers(
        SEND,
        &[
            ("name = \"'sms:' + a\"", "as in `key = \"'sms:' + a\"`"),
            ("name = \"user.id\"", "as in `key = \"user.id\"`"),
            ("name = \"phone\"", "as in `key = \"phone\"`"),
            ("name = \"[phone, user]\"", "as in `key = \"[phone, user]\"`"),
            ("name = \"lower(phone)\"", "as in `key = \"lower(phone)\"`"),
            ("name = \"'sms'\"", "write `name = \"sms\"`"),
            ("name = \"phone.len()\"", "as in `key = \"phone.len()\"`"),
            ("name = \"user.id ?: 'x'\"", "what differs stands in the key"),
            ("name = phone", "a `name` is one for all calls"),
            ("name = \"sms:\" + phone", "as in `key = \"'sms:' + phone\"`"),
            ("name = Self::NAME", "takes a text in quotes"),
            ("name = SMS_NAME", "takes a text in quotes"),
            ("name = \"'sms:' + a\", key = \"phone\"", "as in `key = \"'sms:' + a\"`"),
        ],
    );
    compile_beside_numbers(
        SEND,
        &[
            "name = \"phone\", key = \"phone\"",
            "name = \"user.create\", key = \"phone\"",
            "name = \"phone\", cost = phone.len()",
            "name = \"phone_limit\"",
            "name = \"send.phone\"",
            "name = \"ip\"",
            "name = \"sms (v2)\"",
            "name = \"it's\"",
            "service = \"user\"",
        ],
    );
}

#[test]
fn f30_texts_in_a_key_in_rust_that_name_something() {
    hold_beside_numbers(
        "fn send(tenant: &str, phone: &str, user: u64) -> Result<(), Error> { Ok(()) }",
        &[
            ("key = [\"@ip\", user]", "as in `key = \"[@ip, user]\"`"),
            ("key = [\"tenant\", user]", "write `tenant` without quotes"),
            ("key = &[\"tenant\", user]", "write `tenant` without quotes"),
            ("key = [\"'sms:'\", user]", "write `\"sms:\"`"),
            ("key = [\"#user\", phone]", "write `user` without quotes"),
            ("key = [\"{phone}\", user]", "write `phone` without quotes"),
            ("key = format!(\"@ip:{phone}\")", "`@ip` in quotes is text"),
            ("key = format!(\"#phone {}\", user)", "write `{phone}`"),
            ("key = format!(\"{}:{}\", \"phone\", user)", "write `phone` without quotes"),
            ("key = format!(\"{{phone}}\")", "`{phone}` in quotes is text"),
            ("key = String::from(\"sms:{phone}\")", "write `phone` without quotes"),
            ("key = my_key(\"@ip\")", "as in `key = \"@ip\"`"),
            ("key = my_key(\"phone\")", "write `phone` without quotes"),
            ("key = hash::<Sha>(\"phone\")", "write `phone` without quotes"),
            ("group = [\"tenant\", user]", "write `tenant` without quotes"),
        ],
    );
    compile_beside_numbers(
        "fn send(req: &Req, phone: &str, user: u64) -> Result<(), Error> { Ok(()) }",
        &[
            "key = [\"user\", user]",
            "key = [\"phone:\", user]",
            "key = format!(\"ip:{phone}\")",
            "key = format!(\"#{phone}\")",
            "key = format!(\"user#{phone}\")",
            "key = format!(\"{phone}@ip\")",
            "key = format!(\"{{{phone}}}\")",
            "key = format!(\"'{phone}'\")",
            "key = req.header(\"user\")",
            "key = phone.replace(\"@ip\", \"\")",
            "key = my_key(phone, \"user\")",
            "key = my_key!(\"user\")",
            "key = if user > 5 { \"user\" } else { \"phone\" }",
        ],
    );
}

#[test]
fn f30_constants_behind_a_call() {
    let says = "names no argument, no `self` and no function of yours";
    hold_beside_numbers(
        SEND,
        &[
            ("key = format!(\"sms\")", says),
            ("key = Cow::Borrowed(\"sms\")", says),
            ("key = Arc::new(\"sms\")", says),
            ("key = Arc::new(KEY)", says),
            ("key = String::new()", says),
            ("key = \"sms\".replace(\"a\", \"b\")", says),
            ("key = \"sms\".to_uppercase().repeat(2)", says),
            ("key = format!(\"sms\").to_uppercase()", says),
            ("key = [Arc::new(\"a\"), \"b\"]", says),
            ("key = user.id * 0", says),
            ("key = user.id % 1", says),
            ("key = std::any::type_name::<User>()", says),
            ("key = args[0].id", "quotes go around the whole key, as in `key = \"args[0].id\"`"),
            ("key = request.remote_addr", "did you mean `key = \"@ip\"`?"),
            ("key = get_remote_address", "did you mean `key = \"@ip\"`?"),
            ("key = phone || \"anon\"", "`key = \"phone ?: 'anon'\"`"),
            ("key = vec![phone, user]", "several parts are written as a list"),
            ("key = Uuid::new_v4()", "nothing would be limited"),
            ("key = Uuid::new_v4().to_string()", "nothing would be limited"),
            ("key = Instant::now()", "nothing would be limited"),
        ],
    );
    compile_beside_numbers(
        SEND,
        &[
            "key = tenant_of_this_process()",
            "key = header(\"x-api-key\")",
            "key = Tenant::current()",
            "key = CURRENT.load(Relaxed)",
            "key = Arc::new(phone)",
            "key = Some(phone)",
            "key = [\"a\", my_key(phone)]",
            "key = \"sms\".replace(\"s\", phone)",
            "key = Utc::now().date_naive().to_string()",
        ],
    );
}

#[test]
fn f30_sums_of_arguments_merge_callers() {
    hold_beside_numbers(
        "fn send(&self, tenant: u64, user: u64) -> Result<(), Error> { Ok(()) }",
        &[
            ("key = tenant + user", "`key = [tenant, user]`"),
            ("key = tenant - user", "`-` makes one value of many pairs"),
            ("key = tenant * user", "`key = [tenant, user]`"),
            ("key = tenant ^ user", "`key = [tenant, user]`"),
            ("key = tenant % user", "`key = [tenant, user]`"),
            ("key = tenant / user", "`key = [tenant, user]`"),
            ("key = tenant | user", "`key = [tenant, user]`"),
            ("key = tenant & user", "`key = [tenant, user]`"),
            ("key = (tenant as u128) + (user as u128)", "`key = [tenant as u128, user as u128]`"),
            ("key = self.region + tenant + user", "`key = [self.region, tenant, user]`"),
            ("key = [\"a\", tenant + user]", "makes one value of many pairs"),
        ],
    );
    compile_beside_numbers(
        "fn send(tenant: u64, user: u64) -> Result<(), Error> { Ok(()) }",
        &[
            "key = [tenant, user]",
            "key = user % 10",
            "key = user + 1",
            "key = tenant * 1000 + user",
            "key = (tenant as u128) << 64 | user as u128",
        ],
    );
}

#[test]
fn f30_an_address_with_its_port() {
    let says = "so each connection would have a budget of its own: write `addr.ip()`";
    hold_beside_numbers(
        "fn send(addr: SocketAddr) -> Result<(), Error> { Ok(()) }",
        &[
            ("key = addr", says),
            ("key = &addr", says),
            ("key = addr.to_string()", says),
            ("key = [\"a\", addr.to_string()]", says),
            ("key = format!(\"{addr}\")", says),
            ("key = format!(\"ip:{}\", addr)", says),
            ("key = \"addr\"", "write `key = addr.ip()`, without quotes"),
            ("key = \"'ip:' + addr\"", "write `key = addr.ip()`, without quotes"),
        ],
    );
    hold_beside_numbers(
        "fn send(ConnectInfo(addr): ConnectInfo<SocketAddr>) -> Result<(), Error> { Ok(()) }",
        &[("key = addr.to_string()", says), ("key = \"addr\"", "write `key = addr.ip()`")],
    );
    hold_beside_numbers(
        "fn send(info: ConnectInfo<SocketAddr>) -> Result<(), Error> { Ok(()) }",
        &[("key = info.0.to_string()", "write `info.0.ip()`")],
    );
    compile_beside_numbers(
        "fn send(addr: &std::net::SocketAddr, info: ConnectInfo<SocketAddr>, ip: IpAddr) -> Result<(), Error> { Ok(()) }",
        &[
            "key = addr.ip()",
            "key = addr.ip().to_string()",
            "key = info.0.ip()",
            "key = tenant_of(&addr)",
            "key = \"ip\"",
            "key = ip.to_string()",
            "key = \"'addr:' + @ip\"",
        ],
    );
}

#[test]
fn f33_values_that_are_no_rust() {
    hold_beside_numbers(
        SEND,
        &[
            ("key = user?.id ?? \"x\"", "`key = \"user?.id ?: 'x'\"`"),
            ("key = phone or \"x\"", "`key = \"phone ?: 'x'\"`"),
            ("key = [@ip, user]", "`key = \"[@ip, user]\"`"),
            ("key = [\"phone\", @ip]", "`key = \"['phone', @ip]\"`"),
            ("key = lower(#phone)", "`key = \"lower(#phone)\"`"),
            ("key = #user.id", "`key = \"#user.id\"`"),
            ("group = [@tenant, phone]", "`group = \"[@tenant, phone]\"`"),
            ("key = e => e.phone", "takes a value and no closure"),
            ("key = (req, res) => req.ip", "takes a value and no closure"),
            ("key = (req) -> req.ip", "takes a value and no closure"),
            ("key = lambda r: r.phone", "takes a value and no closure"),
            ("key = function(req) { return req.ip }", "takes a value and no closure"),
            ("cost = x => x.len", "`cost` takes a value and no closure"),
            ("on_limited = e => Err(e)", "takes one argument, the error"),
            ("on_limited = throw new Error()", "write `on_limited = Err(..)`"),
            ("key = f\"sms:{phone}\"", "as in `key = \"'sms:' + phone\"`"),
            ("key = $\"{user.id}\"", "as in `key = \"user.id\"`"),
            ("key = n ? a : b", "write `key = if n { a } else { b }`"),
            ("cost = 1 if n else 2", "write `cost = if n { 1 } else { 2 }`"),
            ("key = phone:user", "`key = [phone, user]`"),
            ("key = [phone user]", "several parts are a list"),
            ("key = new Key(phone)", "write the value itself"),
            ("key = $user", "as in `key = user`"),
            ("key = $binary_remote_addr", "`key = \"@ip\"`"),
            ("key = $http_x_api_key", "`key = \"@header['x-api-key'] ?: 'none'\"`"),
            ("when = @user", "`when = user`"),
            ("when = !#user.vip", "`when = !user.vip`"),
            ("cost = #n", "`cost = n`"),
            ("when = not n", "write `when = !n`"),
            ("when = n and m", "write `when = n && m`"),
            ("when = user.vip and not user.admin", "write `when = user.vip && !user.admin`"),
            ("when = user.vip === true", "write `when = user.vip == true`"),
            ("when = user.vip = true", "write `when = user.vip == true`"),
            ("when = phone != null", "`phone.is_some()`"),
            ("when = \"phone != null\"", "`phone.is_some()`"),
            ("when = user is None", "`user.is_none()`"),
            ("when = phone in list", "`when = names.contains(&name)`"),
            ("when = if user.vip", "write `when = user.vip`"),
            ("when = \"!#user.vip\"", "`when = !user.vip`"),
            ("when = \"not vip\"", "write `when = !vip`"),
            ("cost = \"#texts.size()\"", "`cost = texts.size()`"),
            ("when = \"#{user.vip}\"", "`when = user.vip`"),
            ("when = ${feature.enabled}", "`when = feature.enabled`"),
            ("when = user?.vip ?? false", "write `when = user.map_or(false, |it| ..)`"),
            ("when = phone matches \"^a\"", "a condition is Rust"),
            ("when = phone instanceof String", "a condition is Rust"),
            ("when = await is_vip(user)", "cannot wait"),
            ("cost = n or 1", "write `cost = n.unwrap_or(1)`"),
            ("cost: usize = 2", "`cost` takes its value after `=`"),
            ("key = <phone>", "`key = phone`"),
            ("key = %phone%", "`key = phone`"),
            ("key = :phone", "`key = phone`"),
            ("key = phone = user", "`key` is one value"),
            ("decision = mut d", "takes a name under which"),
            ("mode = !enforce", "takes one of"),
            ("cost = 1 +", "the value of `cost` is not Rust"),
            ("cost = 2 tokens", "write `2`"),
            ("name = sms", "write `name = \"sms\"`"),
            ("name = sms:send", "write `name = \"sms:send\"`"),
            ("name = sms-send", "write `name = \"sms-send\"`"),
            ("name = @sms", "write `name = \"sms\"`"),
            ("service = my-service", "write `service = \"my-service\"`"),
            ("mode = dry-run", "write `mode = shadow`"),
            ("mode = shadow mode", "write `mode = shadow`"),
            ("on_error = fail-open", "write `on_error = open`"),
        ],
    );
    compile_beside_numbers(
        SEND,
        &[
            "when = !user.vip && phone != \"null\"",
            "when = matches!(user.kind, Kind::A | Kind::B)",
            "cost = foo::<A, B>(phone)",
            "cost = { let n = phone.len(); n as u64 }",
            "on_limited = |error| Err(error.into())",
            "on_limited = match phone { \"a\" => Ok(()), _ => Err(x) }",
            "on_limited = { count += 1; Err(x) }",
            "key = match user.kind { 1 => \"a\", _ => \"b\" }",
        ],
    );
}

#[test]
fn f33_numbers_that_are_no_rust() {
    hold(
        SEND,
        &[
            ("refill = 5 per min, capacity = 5", "write `\"5/min\"`"),
            ("refill = 5 per second, capacity = 5", "write `\"5/second\"`"),
            ("refill = 5 every 1min, capacity = 5", "write `\"5/1min\"`"),
            ("refill = 5 / 2 min, capacity = 5", "write `\"5/2min\"`"),
            ("capacity = 20 tokens, refill = 5", "write `20`"),
            ("capacity = 20%, refill = 5", "write `20`"),
            ("capacity = +20, refill = 5", "write `20`"),
            ("capacity = 20 per min", "write `capacity = 20, refill = \"20/min\"`"),
            ("capacity = ${sms.capacity}, refill = 5", "`capacity = settings().capacity`"),
            ("capacity = 1,000, refill = 5", "write `1_000`"),
            ("algo = fixed_window, limit = 5, window = 1 min", "write `\"1min\"`"),
            ("algo = fixed_window, limit = 5 000, window = 60", "write `5_000`"),
            ("algo = fixed_window, limit = 5 per min", "write `limit = 5, window = \"1min\"`"),
            ("algo = fixed-window, limit = 5, window = 60", "write `algo = fixed_window`"),
            ("algo = fixed window, limit = 5, window = 60", "write `algo = fixed_window`"),
            ("algo = fixed_window { limit: 5, window: 60 }", "write `algo = fixed_window`"),
            ("algo = leaky_bucket, capacity = 5, leak = 1, wait = 2 s", "write `\"2s\"`"),
        ],
    );
}

#[test]
fn f33_arguments_without_a_name() {
    hold(
        SEND,
        &[
            ("\"5/m\"", "write `capacity = 5, refill = \"5/min\"`"),
            ("\"5 per minute\"", "write `capacity = 5, refill = \"5/min\"`"),
            ("5, 60", "write `capacity = 20, refill = 5` or `limit = 5, window = 60`"),
            ("\"phone\", 20, 5", "write `key = \"phone\"`"),
            ("\"fixed\"", "write `name = \"fixed\"`"),
            ("@ip, capacity = 20, refill = 5", "write `key = \"@ip\"`"),
            ("#phone, capacity = 20, refill = 5", "write `key = \"phone\"`"),
            ("phone, capacity = 20, refill = 5", "write `key = phone`"),
            ("ip, capacity = 20, refill = 5", "write `key = \"@ip\"`"),
            ("{ capacity = 20, refill = 5 }", "there are no brackets around arguments"),
            ("(capacity = 20, refill = 5)", "there are no brackets around arguments"),
            ("\"capacity\" = 20, refill = 5", "write `capacity = ..`"),
            ("capacity = 20,, refill = 5", "remove this comma"),
            ("capacity = 20;, refill = 5", "a comma is missing"),
            ("capacity = 20 and refill = 5", "a comma is missing"),
            ("capacity = 20 && refill = 5", "a comma is missing"),
            ("sub-windows = 5, algo = sliding_counter, limit = 5, window = 60", "`sub_windows`"),
            ("on-error = open, capacity = 20, refill = 5", "did you mean `on_error`?"),
            ("bucket.capacity = 20, refill = 5", "did you mean `capacity`?"),
            ("let capacity = 20, refill = 5", "unknown argument `let`: remove it"),
        ],
    );
}

#[test]
fn f33_one_error_for_the_words_of_another_limiter() {
    hold(
        SEND,
        &[
            ("bare fixed_window, limit = 5, window = 60", "write `algo = fixed_window`"),
            ("fixed_window, limit = 5, window = 60", "write `algo = fixed_window`"),
            ("fixed_window(5, 60)", "write `algo = fixed_window, limit = 5, window = 60`"),
            (
                "token_bucket(capacity = 20, refill = 5)",
                "write `algo = token_bucket, capacity = 20, refill = 5`",
            ),
            ("bucket = leaky, leak = 1", "write `algo = leaky_bucket`"),
            ("policy = \"fixed\"", "write `algo = fixed_window`"),
            ("limit = 5, per = \"1m\"", "did you mean `window`?"),
            ("requests = 5, window = \"1m\"", "did you mean `limit`?"),
            (
                "name = \"backendA\", fallbackMethod = \"fallback\"",
                "write `on_limited = |error| fallback(error)`",
            ),
            ("Bandwidth.simple(10, Duration.ofMinutes(1))", "one below the other"),
            ("limiter.Rate{Period: 1, Limit: 1000}", "`limiter` takes its value after `=`"),
        ],
    );
}

#[test]
fn a_mistake_in_one_rule_is_no_other_rule_twice() {
    let function = "#[rate_limit(capacity = 20, refill = 5, colour = 1)] fn send(phone: &str) -> Result<(), Error> { Ok(()) }";
    hold(function, &[("capacity = 20, refill = 5", "unknown argument `colour`")]);
    let function = "#[rate_limit(nam = \"b\", capacity = 20, refill = 5)] fn send(phone: &str) -> Result<(), Error> { Ok(()) }";
    hold(function, &[("capacity = 20, refill = 5", "did you mean `name`?")]);
    let function = "#[rate_limit(capacity = 20, refill = 5)] fn send(phone: &str) -> Result<(), Error> { Ok(()) }";
    hold(function, &[("capacity = 20, refill = 5", "has this rule already")]);
    assert_eq!(errors("nam = \"a\", capacity = 20, refill = 5", function).len(), 1);
}

const HANDLER: &str = "async fn get_user(Path(id): Path<u64>, ConnectInfo(addr): \
                       ConnectInfo<SocketAddr>) -> Result<(), Error> { Ok(()) }";
const TICK: &str =
    "fn tick(user_id: u64, tenant_id: u32, n: u32, email: String) -> Result<(), Error> { Ok(()) }";

#[test]
fn rust_keys_that_limit_nobody_or_mix_callers() {
    let with = |key: &str| format!("key = {key}, capacity = 5, refill = 1");
    let hold_rust = |function: &str, cases: &[(&str, &str)]| {
        let cases: Vec<(String, &str)> =
            cases.iter().map(|(key, says)| (with(key), *says)).collect();
        let cases: Vec<(&str, &str)> = cases.iter().map(|(key, says)| (&**key, *says)).collect();
        hold(function, &cases);
    };
    hold_rust(
        SEND,
        &[
            ("Ulid::new().to_string()", "`Ulid::new()` is another value at each call"),
            ("nanoid!()", "is another value at each call"),
            ("&Uuid::now_v7()", "is another value at each call"),
            ("fastrand::u64(..)", "is another value at each call"),
            ("rand::thread_rng().gen::<u32>()", "is another value at each call"),
            ("COUNTER.fetch_add(1, Ordering::Relaxed)", "is another value at each call"),
            ("Utc::now().timestamp()", "is another value at each call"),
            ("[phone, Utc::now().to_rfc3339()]", "is another value at each call"),
            ("std::env::var(\"HOST\").unwrap()", "names no argument"),
            ("std::process::id()", "names no argument"),
            ("phone.to_owned() + &user.name", "`key = [phone.to_owned(), &user.name]`"),
            ("user.id.to_string() + phone", "`key = [user.id.to_string(), phone]`"),
            ("phone == \"a\"", "`when = phone == \"a\"`"),
            ("phone == \"a\"", "`key = if phone == \"a\" { \"yes\" } else { \"no\" }`"),
            ("phone.is_empty()", "`when = phone.is_empty()`"),
            ("[user.id > 5]", "`when = user.id > 5`"),
            ("!user.admin", "`when = !user.admin`"),
            ("matches!(user.plan, Plan::Free)", "all callers would share two budgets"),
            ("phone.starts_with(\"1\")", "all callers would share two budgets"),
            ("request.headers[\"x\"]", "`key = \"@header['x-api-key'] ?: @ip\"`"),
        ],
    );
    hold_rust(
        HANDLER,
        &[
            ("addr.port()", "write `addr.ip()`"),
            ("[addr.ip(), addr.port()]", "write `addr.ip()`"),
            ("ip", "did you mean `key = \"@ip\"`?"),
            ("user", "did you mean `key = \"@user ?: @ip\"`?"),
            ("header", "did you mean `key = \"@header['x-api-key'] ?: @ip\"`?"),
        ],
    );
    hold_rust(TICK, &[("user", "did you mean `user_id`?"), ("userId", "did you mean `user_id`?")]);
    hold_rust(
        "fn export() -> Result<(), Error> { Ok(()) }",
        &[("SERVICE", "as in `key = \"@ip\"`")],
    );
    let right = [
        "[phone, Utc::now().date_naive().to_string()]",
        "phone.to_owned() + \":\" + &user.name",
        "Uuid::from_u128(user.id)",
        "if user.id > 5 { \"yes\" } else { \"no\" }",
        "[phone, user.name.is_empty()]",
        "user.admin",
        "std::env::var(phone).unwrap()",
        "user.ulid.timestamp()",
    ];
    for key in right {
        compile(SEND, &[&with(key)]);
    }
    compile(HANDLER, &[&with("[addr.ip(), id]"), &with("addr.ip()")]);
}

#[test]
fn names_that_are_nearly_there() {
    hold_keys(
        TICK,
        &[
            ("user", "write `user_id`"),
            ("user.id", "write `user_id`"),
            ("tenant + user", "write `tenant_id + user_id`"),
            ("n / 10", "`key = n / 10`"),
            ("this.email", "write `email`"),
            ("req.body.email", "write `email`"),
        ],
    );
    hold_keys(HANDLER, &[("ip", "did you mean `@ip`?"), ("user_id", "`@user ?: @ip`")]);
    hold_keys(
        "async fn login(State(app): State<App>, Json(body): Json<Login>) -> Result<(), Error> { Ok(()) }",
        &[("email", "a field is `body.email`")],
    );
    hold_keys(
        "fn login(n: u8, Json(Login { email, .. }): Json<Login>) -> Result<(), Error> { Ok(()) }",
        &[("phone", "text is written `'phone'`, and the rule's name is")],
    );
}
