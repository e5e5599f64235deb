//! One error for one mistake, which says what to write: tables of what people write out of habit.

use super::habits::{SEND, compile, compile_keys, errors, hold, hold_keys};

/// rustc hands a macro any suffix: dropped, `window = 1m` was one second.
#[test]
fn f31_suffixes_are_not_dropped() {
    hold(
        SEND,
        &[
            ("algo = fixed_window, limit = 5, window = 1m", "needs quotes: write `\"1min\"`"),
            ("algo = fixed_window, limit = 5, window = 1M", "needs quotes: write `\"1min\"`"),
            ("algo = fixed_window, limit = 5, window = 5mins", "write `\"5min\"`"),
            ("algo = fixed_window, limit = 5, window = 60s", "write `\"60s\"`"),
            (
                "algo = fixed_window, limit = 5, window = 1w",
                "unknown unit `w`: write `7d`, in quotes",
            ),
            ("algo = fixed_window, limit = 5, window = 1mo", "write `30d`, in quotes"),
            (
                "algo = fixed_window, limit = 5, window = 1x",
                "`window` takes a duration: `60` is seconds",
            ),
            ("algo = fixed_window, limit = 5k, window = 60", "cannot end in `k`: write `5000`"),
            ("capacity = 2M, refill = 5", "cannot end in `M`: write `2000000`"),
            ("capacity = 20, refill = 5m", "needs quotes: write `\"5/min\"`"),
            ("capacity = 20, refill = 5x", "`refill` takes a rate"),
            ("capacity = 20, refill = 300/1m", "needs quotes: write `\"300/1min\"`"),
            ("capacity = 20, refill = 5, cost = 2k", "cannot end in `k`: write `2000`"),
            ("capacity = 20, refill = 5, cost = 0k", "cannot end in `k`"),
            ("capacity = 20, refill = 5, cost = 3s", "cannot end in `s`: write `3`"),
            (
                "algo = leaky_bucket, capacity = 20, leak = 5, wait = 1m",
                "needs quotes: write `\"1min\"`",
            ),
            (
                "value = \"sms\", capacity = 20, refill = 5",
                "did you mean `key`, which says what is counted apart, or `name`",
            ),
        ],
    );
    compile(SEND, &["capacity = 20u32, refill = 5_u64, cost = 1usize"]);
}

#[test]
fn texts_are_not_joined_in_rust() {
    let says = "this is Rust, in which texts are not joined by `+`";
    hold(
        SEND,
        &[
            ("key = \"sms:\" + phone, capacity = 5, refill = 1", says),
            ("key = phone + \":\" + user.name, capacity = 5, refill = 1", says),
            ("key = &user.name + \":x\", capacity = 5, refill = 1", says),
        ],
    );
    compile(
        SEND,
        &[
            "key = phone.to_owned() + \":x\", capacity = 5, refill = 1",
            "key = user.id + 1, capacity = 5, refill = 1",
        ],
    );
}

#[test]
fn f33_words_of_other_limiters() {
    hold(
        SEND,
        &[
            ("capacity = 20, refillRate = 5", "`refillRate`: did you mean `refill`?"),
            ("capacity = 20, replenishRate = 5", "did you mean `refill`?"),
            ("burstCapacity = 20, refill = 5", "did you mean `capacity`?"),
            (
                "algo = fixed_window, limit = 5, windowSeconds = 60",
                "did you mean `window`? a number is in seconds",
            ),
            (
                "algo = fixed_window, limit = 5, window_seconds = 60",
                "did you mean `window`? a number is in seconds",
            ),
            ("algo = fixed_window, maxRequests = 5, window = 60", "did you mean `limit`?"),
            ("algo = leaky_bucket, capacity = 5, leakRate = 1", "did you mean `leak`?"),
            ("limitType = LimitType.IP, capacity = 20, refill = 5", "`key = \"@ip\"`"),
            ("limit_type = IP, capacity = 20, refill = 5", "`key = \"@ip\"`"),
            ("fail_open = true, capacity = 20, refill = 5", "write `on_error = open`"),
            ("failOpen, capacity = 20, refill = 5", "write `on_error = open`"),
            ("initial = 0, capacity = 20, refill = 5", "a bucket starts full"),
            ("requested = 3, capacity = 20, refill = 5", "did you mean `cost`?"),
            ("algo = FIXED_WINDOW, limit = 5, window = 60", "did you mean `fixed_window`?"),
            ("algo = TOKEN_BUCKET, capacity = 5, refill = 6", "did you mean `token_bucket`?"),
            (
                "algorithm = RateLimitAlgorithm.FIXED_WINDOW, limit = 5, window = 60",
                "write `algo = fixed_window`",
            ),
            ("algorithm = FIXED_WINDOW, limit = 5, window = 60", "write `algo = fixed_window`"),
            (
                "algo = Algorithm::FixedWindow, limit = 5, window = 60",
                "write `algo = fixed_window`",
            ),
            (
                "algo = Algorithm.FIXED_WINDOW, limit = 5, window = 60",
                "write `algo = fixed_window`",
            ),
            (
                "algo = \"sliding_window\", limit = 5, window = 60",
                "`sliding_log`, which is exact, or `sliding_counter`",
            ),
            ("mode = \"dry_run\", capacity = 20, refill = 5", "did you mean `shadow`?"),
            ("mode = false, capacity = 20, refill = 5", "write `mode = off`"),
            ("on_error = \"fail_open\", capacity = 20, refill = 5", "did you mean `open`?"),
            ("capacity = 20, refill = 5, enabled", "unknown argument `enabled`"),
            ("capacity = 20, refill = 5, enabled = true", "`mode = off` switches it off"),
            (
                "align = hour, algo = fixed_window, limit = 5, window = 60",
                "do not follow the calendar",
            ),
            (
                "capacity = 20, refill = 5, blockHandler = \"blocked\"",
                "write `on_limited = |error|",
            ),
        ],
    );
}

#[test]
fn f33_numbers_that_do_not_go_together() {
    hold(
        SEND,
        &[
            (
                "algo = fixed_window, limit = \"1000/min\"",
                "write `limit = 1000, window = \"1min\"`",
            ),
            ("algo = fixed_window, limit = \"10/15s\"", "write `limit = 10, window = \"15s\"`"),
            ("capacity = \"1000/min\"", "write `capacity = 1000, refill = \"1000/min\"`"),
            (
                "limit = 20, refill = 5",
                "`limit` does not go with `refill`: beside `refill`, write `capacity`",
            ),
            ("capacity = 20, window = 60", "beside `capacity`, write `refill`"),
            (
                "algo = fixed_window, capacity = 5, refill = 1",
                "does not take `capacity` and `refill`: it takes `limit` and `window`",
            ),
            (
                "capacity = 5, refill = 1, window = 60",
                "a part of `refill`, as in `refill = \"1/min\"`",
            ),
            ("limit = 5, window = 60", "write `algo = fixed_window`"),
            ("colour = red, capacity = 5", "unknown argument `colour`: there are"),
        ],
    );
    // Two names are two mistakes, and nothing is missing besides.
    assert_eq!(errors("permits = 5, per = 60", SEND).len(), 2);
    assert_eq!(errors("maxRequests = 5, windowSeconds = 60", SEND).len(), 2);
    assert!(
        errors("permits = 5, per = 60", SEND)[0].contains("did you mean `capacity` or `limit`?")
    );
}

#[test]
fn f33_units() {
    hold(
        SEND,
        &[
            ("algo = fixed_window, limit = 5, window = \"1m\"", "did you mean `min`?"),
            ("capacity = 5, refill = \"5/m\"", "did you mean `min`?"),
            ("algo = fixed_window, limit = 5, window = \"1month\"", "do not follow the calendar"),
            ("algo = fixed_window, limit = 5, window = \"1week\"", "write `7d`"),
        ],
    );
}

#[test]
fn f33_the_form_of_arguments() {
    hold(
        SEND,
        &[
            ("capacity => 20, refill = 5", "takes its value after `=`"),
            ("capacity: 20, refill = 5", "takes its value after `=`"),
            ("capacity(20), refill = 5", "takes its value after `=`"),
            ("key = \"phone\"; capacity = 20, refill = 5", "a comma is missing"),
            ("key = phone, user, capacity = 20, refill = 5", "`key = [phone, user]`"),
            ("key = @ip, capacity = 20, refill = 5", "`key = \"@ip\"`"),
            ("key = #phone, capacity = 20, refill = 5", "`key = \"#phone\"`"),
            ("key = user?.id ?: 1, capacity = 20, refill = 5", "`?:` belongs to the key language"),
            (
                "when = \"phone.len() > 3\", capacity = 20, refill = 5",
                "write `when = phone.len() > 3`",
            ),
            (
                "when = \"#phone.length() > 3\", capacity = 20, refill = 5",
                "`when = phone.length() > 3`",
            ),
            ("cost = \"phone.len()\", capacity = 20, refill = 5", "write `cost = phone.len()`"),
            ("capacity = \"user.limit\", refill = 5", "write `capacity = user.limit`"),
            ("capacity = \"${sms.capacity}\", refill = 5", "`capacity = settings().capacity`"),
            ("limiter = \"redis\", capacity = 20, refill = 5", "`limiter` takes Rust"),
            (
                "capacity = 20, refill = 5, on_limited = too_many",
                "`on_limited = |error| too_many(error)`",
            ),
            (
                "capacity = 20, refill = 5, on_limited = \"too_many\"",
                "`on_limited = |error| too_many(error)`",
            ),
        ],
    );
    compile(
        "fn send(phone: &str, fallback: u8) -> Answer { Ok(()) }",
        &[
            "capacity = 20, refill = 5, on_limited = fallback",
            "capacity = 20, refill = 5, on_limited = \"limited\"",
            "capacity = 20, refill = 5, on_limited = Answer::Limited",
        ],
    );
}

#[test]
fn f31_divisions_that_drop_the_rest() {
    hold(
        SEND,
        &[
            ("capacity = 5, refill = 1/15", "write `\"1/15s\"`"),
            ("algo = leaky_bucket, capacity = 5, leak = 10/60", "write `\"1/6s\"`"),
            (
                "capacity = 5, refill = 90/60",
                "`90 / 60` is 1 in Rust, which drops the rest: write `\"3/2s\"`",
            ),
            ("capacity = 5, refill = (60 * 10) / 7", "write `\"600/7s\"`"),
            ("capacity = 3/4, refill = 5", "`3 / 4` is 0 in Rust"),
            ("algo = fixed_window, limit = 5, window = 1/2", "write `\"500ms\"`"),
            ("capacity = 5, refill = phone.len() as u64 + 1/15", "`1 / 15` is 0 in Rust"),
            ("capacity = 5 - 5, refill = 5", "`capacity` is 0"),
        ],
    );
    compile(
        SEND,
        &[
            "algo = fixed_window, limit = 60 * 24, window = 24 * 60 * 60",
            "capacity = 5, refill = 120 / 60",
            "capacity = 5, refill = (phone.len() as u64 / 2).max(1)",
            "capacity = 5, refill = 5, cost = 5 - 5",
        ],
    );
}

#[test]
fn f29_names_in_quotes() {
    hold_keys(
        SEND,
        &[
            ("'login:@ip'", "names stand outside, as in `'login:' + @ip`"),
            ("'sms:#phone'", "names stand outside, as in `'sms:' + phone`"),
            ("'ip:@header[x-api-key]'", "`'ip:' + @header['x-api-key'] ?: @ip`"),
            ("'phone'", "names stand outside, as in `phone`"),
            ("'sms:' + 'phone'", "names stand outside, as in `'sms:' + phone`"),
            ("'sms:phone'", "names stand outside, as in `'sms:' + phone`"),
            ("['sms', 'phone']", "names stand outside, as in `phone`"),
            ("'sms:$phone'", "names stand outside, as in `'sms:' + phone`"),
            ("'sms:%s'", "names stand outside, as in `'sms:' + phone`"),
            ("'sms:{0}'", "names stand outside, as in `'sms:' + phone`"),
            ("'login:{ip}'", "names stand outside, as in `'login:' + @ip`"),
            ("'user:{user.id}'", "names stand outside, as in `'user:' + user.id`"),
            ("'ip'", "names stand outside, as in `@ip`"),
            ("lower('phone')", "names stand outside, as in `phone`"),
        ],
    );
    hold(
        SEND,
        &[
            (
                "key = \"phone\", capacity = 5, refill = 1, group = \"'phone'\"",
                "names stand outside, as in `phone`",
            ),
            (
                "key = \"phone\", capacity = 5, refill = 1, group = \"'tenant'\"",
                "names stand outside, as in `@tenant ?: @ip`",
            ),
            (
                "name = \"sms:{phone}\", capacity = 5, refill = 1",
                "what differs stands in the key, as in `key = \"phone\"`",
            ),
            (
                "name = \"sms:#phone\", capacity = 5, refill = 1",
                "what differs stands in the key, as in `key = \"phone\"`",
            ),
            (
                "name = \"login@ip:@ip\", capacity = 5, refill = 1",
                "what differs stands in the key, as in `key = \"@ip\"`",
            ),
        ],
    );
    let right = [
        "'user' + user.id",
        "['user', phone]",
        "'user#' + phone",
        "'mail@ip:' + phone",
        "'login'",
        "'100%'",
        "'{tag}:' + phone",
        "'phone' + @ip",
        "'sms#1'",
    ];
    compile_keys(SEND, &right);
    for name in ["sms v2 #1 (50%)", "#login", "$internal", "who?"] {
        compile(SEND, &[&format!("name = {name:?}, capacity = 20, refill = 5")]);
    }
}

#[test]
fn f30_keys_in_rust_that_are_the_same_for_all() {
    hold(
        "fn send<T: Kind>(phone: &str) -> Result<(), Error> { Ok(()) }",
        &[
            (
                "key = KEY, capacity = 5, refill = 1",
                "as in `key = [KEY, phone]`, or leave `key` out",
            ),
            ("key = limits::KEY, capacity = 5, refill = 1", "`key = [limits::KEY, phone]`"),
            ("key = concat!(\"a\", \"b\"), capacity = 5, refill = 1", "names no argument"),
            ("key = format!(\"sms\"), capacity = 5, refill = 1", "names no argument"),
            ("key = format!(\"sms:{KEY}\"), capacity = 5, refill = 1", "names no argument"),
            ("key = [KEY, OTHER], capacity = 5, refill = 1", "names no argument"),
            ("key = [\"a\", \"b\"], capacity = 5, refill = 1", "names no argument"),
            ("key = 42, capacity = 5, refill = 1", "names no argument"),
            ("key = CONFIG.region, capacity = 5, refill = 1", "names no argument"),
            (
                "key = \"phone\", capacity = 5, refill = 1, group = GROUP",
                "so every call would be in one slot",
            ),
            ("key = ip, capacity = 5, refill = 1", "did you mean `key = \"@ip\"`?"),
            ("key = phnoe, capacity = 5, refill = 1", "did you mean `phone`?"),
            ("key = login, capacity = 5, refill = 1", "text is written `key = \"'login'\"`"),
            (
                "key = (\"sms\", phone), capacity = 5, refill = 1",
                "several parts are written as a list: `[a, b]`",
            ),
            ("key = |req| req.user, capacity = 5, refill = 1", "a key is a value and no closure"),
        ],
    );
    compile(
        "fn send<T: Kind, Tenant: Kind, const SIZE: u8>(&self, phone: &str) -> Result<(), Error> { Ok(()) }",
        &[
            "key = [KEY, phone], capacity = 5, refill = 1",
            "key = format!(\"{phone}\"), capacity = 5, refill = 1",
            "key = format!(\"{phone:?}\"), capacity = 5, refill = 1",
            "key = format!(\"{}\", tenant()), capacity = 5, refill = 1",
            "key = tenant(), capacity = 5, refill = 1",
            "key = Tenant::current(), capacity = 5, refill = 1",
            "key = current::<Tenant>(), capacity = 5, refill = 1",
            "key = CURRENT.with(|it| it.get()), capacity = 5, refill = 1",
            "key = my_key!(), capacity = 5, refill = 1",
            "key = self.tenant, capacity = 5, refill = 1",
            "key = Self::NAME, capacity = 5, refill = 1",
            "key = T::NAME, capacity = 5, refill = 1",
            "key = [KEY, SIZE], capacity = 5, refill = 1",
            "key = Tenant::ID, capacity = 5, refill = 1",
            "key = { let p = &phone[..3]; p }, capacity = 5, refill = 1",
            "key = &phone, capacity = 5, refill = 1",
            "key = \"phone\", capacity = 5, refill = 1, group = \"'all'\"",
        ],
    );
}

#[test]
fn f33_keys_of_other_languages() {
    hold_keys(
        SEND,
        &[
            ("login", "text is written `'login'`, and the rule's name is `name = \"login\"`"),
            ("ip", "did you mean `@ip`?"),
            ("#ip", "did you mean `@ip`?"),
            ("clientIp", "did you mean `@ip`?"),
            ("request.ip", "did you mean `@ip`?"),
            ("request.remoteAddr", "did you mean `@ip`?"),
            ("#request.getHeader('x-api-key')", "`@header['x-api-key']"),
            ("req.headers['x-api-key']", "`@header['x-api-key']"),
            ("#{#phone}", "names take no braces, and there are no templates"),
            ("{phone}", "names take no braces, and there are no templates"),
            ("'sms:' + {phone}", "names take no braces, and there are no templates"),
            ("${phone}", "names take no braces, and there are no templates"),
            ("$phone", "names stand as they are, as in `phone`"),
            (
                "T(java.lang.Math).random()",
                "`T(..)` is not part of the key language: write the key in Rust",
            ),
            ("new Key(phone)", "`new` is not part of the key language"),
            (
                "@keyBuilder.build(#phone)",
                "unknown context value `@keyBuilder`: what a function of yours gives is a key in Rust",
            ),
            ("@request.ip", "did you mean `@ip`?"),
            ("'sms:'.concat(#phone)", "`+` joins"),
            ("'sms' . phone", "`+` joins"),
            ("phone.concat(':x')", "`+` joins"),
            ("@user.id ?: 'x'", "`@user` is one text: remove `.id`"),
            ("@user?.id ?: 'x'", "`@user` is one text: remove `?.id`"),
            ("@header.x-api-key ?: 'x'", "write `@header['x-api-key']`"),
            ("@header[x-api-key] ?: 'x'", "write `@header['x-api-key']`"),
            ("@headers['x-api-key'] ?: 'x'", "write `@header['x-api-key'] ?: 'x'`"),
            ("#root.methodName + #phone", "`args[0]` is the first argument"),
            ("#root.args[0]", "`args[0]` is the first argument"),
            ("#authentication.name", "who calls is `@user ?: @ip`"),
            ("#result.id", "a key is computed before the function runs"),
            (
                "phone.parse::<u32>()?",
                "`parse` is called as a method, and the key language has none: write the key in Rust",
            ),
            ("user::id", "paths stand in a key in Rust"),
            ("Self::ID", "paths stand in a key in Rust"),
            ("PREFIX + phone", "as in `key = [PREFIX, phone]`"),
            ("fn_key(phone)", "as in `key = fn_key(phone)`, without the quotes"),
            ("phone as u64", "casts stand in a key in Rust"),
            ("format!('sms:{}', phone)", "macros stand in a key in Rust"),
            ("&phone", "leave `&` out"),
            ("*phone", "leave `*` out"),
            ("|p| p", "a key is a value and no closure"),
            ("p -> p.phone", "a key is a value and no closure"),
            ("phone == 'x'", "conditions stand in `when = ..`"),
            ("phone != null ? phone : 'x'", "conditions stand in `when = ..`"),
            ("phone and user", "conditions stand in `when = ..`"),
            ("phone || 'none'", "a default is written `?:`"),
            ("phone ?? 'none'", "a default is written `?:`"),
            ("phone.toLowerCase()", "a function does it, `lower(phone)`"),
            ("phone.trim()", "a function does it, `trim(phone)`"),
            ("phone.to_string()", "it is not needed: leave it out"),
            ("user.getId()", "write the key in Rust"),
            ("phone.unwrap_or('x')", "a default is written `?:`"),
            ("toLowerCase(phone)", "write `lower(phone)`"),
            ("md5(phone)", "write `hash(phone)`"),
            ("concat('sms:', phone)", "`+` joins"),
            ("coalesce(phone, 'x')", "a default is written `?:`"),
            ("x-api-key", "a header is written `@header['x-api-key']"),
            ("sms:phone", "text stands in single quotes, and `+` joins"),
            ("/login", "a request's path is `@path`"),
            ("user/phone", "`/` is not part of the key language"),
            ("phone % 10", "write the key in Rust"),
            ("null", "a default is written `?:`"),
            ("phoneNumber", "unknown argument `phoneNumber`"),
        ],
    );
    hold_keys(
        "fn send(user_id: u64) -> Result<(), Error> { Ok(()) }",
        &[("#userId", "did you mean `user_id`?"), ("userID", "did you mean `user_id`?")],
    );
    hold_keys(
        "fn send() -> Result<(), Error> { Ok(()) }",
        &[("sms_send", "the rule's name is `name = \"sms_send\"`")],
    );
}

#[test]
fn habits_that_gave_two_errors_or_none() {
    hold(
        SEND,
        &[
            (
                "permitsPerSecond = 10.0",
                "a number is how many a second, one in five seconds is `\"1/5s\"`, and `capacity` is how many at once",
            ),
            ("algo = leaky_bucket, capacity = 20, rate = 5", "of a leaky bucket, it is `leak`"),
            ("capacity = 20, refill = 5, tokens = 2", "what one call takes is its `cost`"),
            ("max_concurrent = 5", "not how many run at once"),
            ("key: \"phone\", capacity: 20, refill: 5", "`key` takes its value after `=`"),
            ("key(\"phone\"), capacity(20), refill(5)", "`key` takes its value after `=`"),
            ("key = \"phone\"; capacity = 20; refill = 5", "a comma is missing"),
            ("\"phone\", 10, 60", "expected an argument"),
            ("capacity = 20, refill = 1.0 / 15.0", "write `\"1/15s\"`"),
            ("capacity = 20, refill = 2 * 0.25", "write `\"1/2s\"`"),
            ("algo = fixed_window, limit = 5, window = 0.5 * 3.0", "write `\"1500ms\"`"),
            ("capacity = 20, refill = 5, wait = true", "`wait` takes a duration"),
            ("capacity = 20, refill = 5, limiter = \"redis\"", "`limiter` takes Rust over"),
            (
                "key = by_phone, capacity = 20, refill = 5",
                "a function is called, `key = by_phone(..)`",
            ),
            ("key = SmartIpKeyExtractor, capacity = 20, refill = 5", "names no argument"),
        ],
    );
    hold(
        SEND,
        &[
            (
                "capacity = 5, refill = 1 / CAPACITY",
                "`refill = Rate::new(1, Duration::from_secs(CAPACITY))`",
            ),
            ("capacity = 20, refill = 5, on_limited = ()", "as in `on_limited = Err(..)`"),
            ("key = stringify!(phone), capacity = 5, refill = 1", "names no argument"),
            ("key = KEY.to_string(), capacity = 5, refill = 1", "names no argument"),
            (
                "key = String::from(\"sms:{phone}\"), capacity = 5, refill = 1",
                "`{phone}` in quotes is text",
            ),
            ("key = \"sms\".into(), capacity = 5, refill = 1", "names no argument"),
            ("key = user_id, capacity = 5, refill = 1", "who calls is `key = \"@user ?: @ip\"`"),
            ("key = clientIp, capacity = 5, refill = 1", "did you mean `key = \"@ip\"`?"),
            ("key = tenant, capacity = 5, refill = 1", "did you mean `key = \"@tenant ?: @ip\"`?"),
            ("key = global, capacity = 5, refill = 1", "one budget for all callers needs no `key`"),
            ("capacity = 20, refill = \"5/min/user\"", "`refill` takes a rate"),
            ("algo = fixed_window, limit = 5, window = \"00:01:00\"", "is written `\"1min\"` here"),
            ("algo = fixed_window, limit = 5, window = \"0 0 * * *\"", "`window` takes a duration"),
            ("algo = fixed_window, limit = 5, window = 5 * time.Minute", "write `\"5min\"`"),
            ("algo = fixed_window, limit = 5, window = TimeUnit.MINUTES", "write `\"1min\"`"),
            ("algo = fixed_window, limit = 5, window = minute", "write `\"1min\"`"),
            ("algo = concurrency, limit = 5", "not how many run at once"),
            ("algo = TokenBucket::new(), capacity = 5, refill = 1", "write `algo = token_bucket`"),
            (
                "capacity = 20, refill = 5, when = |phone| true",
                "`when` takes a value and no closure",
            ),
            (
                "capacity = 20, refill = 5, cost = |p| p.len()",
                "`cost` takes a value and no closure",
            ),
        ],
    );
}

#[test]
fn habits_in_keys_that_gave_two_errors_or_none() {
    compile(
        "fn send(phone: &str, minute: u64) -> Result<(), Error> { Ok(()) }",
        &[
            "algo = fixed_window, limit = 5, window = minute",
            "algo = fixed_window, limit = 5, window = 60 * minute",
        ],
    );
    hold_keys(
        SEND,
        &[
            ("1", "`1` is the same for all calls"),
            ("'USER'", "names stand outside, as in `user`"),
            ("'sms:user.id'", "names stand outside, as in `'sms:' + user.id`"),
            ("'sms:{{phone}}'", "names stand outside, as in `'sms:' + phone`"),
            ("'sms:<phone>'", "names stand outside, as in `'sms:' + phone`"),
            ("'sms:?'", "names stand outside, as in `'sms:' + phone`"),
            ("'sms:' & phone", "`&` is not part of the key language: `+` joins"),
            ("f'sms:{phone}'", "`f` is not part of the key language: names take no braces"),
            ("@args[0]", "an argument stands as it is, `args[0]`"),
            ("@phone", "an argument stands as it is, `phone`"),
            ("@ip[0]", "`@ip` is one value and takes no index"),
            ("@query['id']", "unknown context value `@query`"),
            ("@ip()", "`@ip` is one text"),
            ("$remote_addr", "did you mean `@ip`?"),
            ("lower phone", "`lower` takes one value: `lower(phone)`"),
            ("*", "one budget for all callers needs no `key`"),
            ("global", "one budget for all callers needs no `key`"),
            ("user.id()", "without the quotes around it: `key = user.id()`"),
            ("phone as u64", "without the quotes around it: `key = phone as u64`"),
            ("format!(\"sms:{}\", phone)", "macros stand in a key in Rust"),
            ("lower(\"x\")", "straight single quotes"),
            ("@userId ?: 'x'", "write `@user ?: 'x'`"),
            ("c.ClientIP()", "did you mean `@ip`?"),
            ("r.RemoteAddr", "did you mean `@ip`?"),
            ("if phone { 'a' } else { 'b' }", "`if` is not part of the key language"),
            ("match phone", "`match` is not part of the key language"),
            ("@request.route", "did you mean `@route`?"),
        ],
    );
}

#[test]
fn what_else_a_name_can_be() {
    hold_keys(
        "fn send(&self, phone: &str) -> Result<(), Error> { Ok(()) }",
        &[
            ("tenant", "arguments: `self`, `phone`; did you mean `@tenant"),
            ("shard", "a field is `self.shard`, and text is written `'shard'`"),
        ],
    );
    hold_keys(
        "async fn send(Json(req): Json<Req>) -> Result<(), Error> { Ok(()) }",
        &[("phone", "a field is `req.phone`")],
    );
    hold_keys(
        "fn send(userId: u64) -> Result<(), Error> { Ok(()) }",
        &[("user_id", "did you mean `userId`?")],
    );
    hold(
        "fn send(vip: bool) -> Result<(), Error> { Ok(()) }",
        &[
            ("when = \"vip\", capacity = 5, refill = 1", "write `when = vip`"),
            ("when = \"true\", capacity = 5, refill = 1", "write `when = true`"),
        ],
    );
}
