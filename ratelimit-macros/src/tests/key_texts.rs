//! Keys in quotes that other languages have otherwise, and texts that name what they are not.

use super::habits::{SEND, compile_keys, errors, hold, hold_keys};

const SEND_TO: &str = "fn send_sms(to: &str) -> Result<(), Error> { Ok(()) }";
const LOGIN: &str =
    "fn login(tenant: &str, user: &str, ip: IpAddr) -> Result<(), Error> { Ok(()) }";
const NOTHING: &str = "fn export() -> Result<(), Error> { Ok(()) }";

#[test]
fn defaults_that_name_something() {
    hold_keys(
        SEND,
        &[
            ("@user ?: '@ip'", "a name stands without quotes, as in `?: @ip`"),
            ("@user ?: 'ip'", "as in `?: @ip`"),
            ("@user ?: 'client_ip'", "as in `?: @ip`"),
            ("@user ?: 'phone'", "as in `?: phone`"),
            ("@user ?: 'Phone'", "as in `?: phone`"),
            ("@user ?: '#phone'", "as in `?: phone`"),
            ("@user ?: '{phone}'", "as in `?: phone`"),
            ("@user ?: 'user.id'", "as in `?: user.id`"),
            ("'u:' + @user ?: '@ip'", "as in `?: @ip`"),
            ("@device ?: 'tenant'", "as in `?: @tenant ?: @ip`"),
            ("@device ?: 'device'", "as in `?: @ip`"),
            ("@device ?: 'device_id'", "as in `?: @ip`"),
            ("'anonymous' ?: @user ?: @ip", "`'anonymous'` is always there"),
            ("'anonymous' ?: @user", "`'anonymous'` is always there"),
            ("@user ?: 'anonymous' ?: @ip", "`'anonymous'` is always there"),
            ("1 ?: phone", "`1` is always there"),
            ("@user ?: '@ip' ?: @ip", "`'@ip'` is always there"),
            ("@header['X-Forwarded-For'] ?: 'none'", "the client's address is `@ip`"),
            ("@header['forwarded'] ?: @ip", "the client's address is `@ip`"),
        ],
    );
    compile_keys(
        SEND,
        &[
            "@user ?: 'anonymous'",
            "@user ?: 'anonymous-user'",
            "@user ?: 'no-user'",
            "@user ?: 'guest'",
            "@tenant ?: 'default'",
            "@tenant ?: @user ?: 'none'",
            "@header['x-api-key'] ?: 'none'",
            "@header['x-real-ip'] ?: @ip",
            "phone ?: 'nobody'",
        ],
    );
}

#[test]
fn texts_beside_what_tells_no_caller_apart() {
    hold_keys(
        SEND,
        &[
            ("@method + 'phone'", "as in `@method + phone`"),
            ("@method + ':phone'", "callers would not be told apart"),
            ("@path + '@user'", "callers would not be told apart"),
            ("@route + '@user'", "as in `@route + @user ?: @ip`"),
            ("[@path, 'user']", "callers would not be told apart"),
            ("@path + ':client_ip'", "callers would not be told apart"),
            ("'ip:' + @path", "callers would not be told apart"),
            ("lower(@path) + '#phone'", "callers would not be told apart"),
        ],
    );
    compile_keys(
        SEND,
        &[
            "@path",
            "@method + ':' + @path",
            "'path:' + @path",
            "['method', @method, 'route', @route]",
            "'api:' + @path",
            "@path + '/all'",
            "@path + '?'",
            "'GET ' + @route + '#1'",
            "'phone' + @ip",
        ],
    );
}

#[test]
fn signs_in_front_of_names_in_texts() {
    let says = "in quotes is text, the same in every key: names stand outside";
    hold_keys(
        SEND,
        &[
            ("'#tenant:' + phone", says),
            ("'#tenant:' + phone", "as in `@tenant ?: @ip + ':' + phone`, and a label has no sign"),
            ("'@ip:' + phone", "as in `@ip + ':' + phone`"),
            ("'@user' + phone", "as in `@user ?: @ip + phone`"),
            ("'#user:' + phone", "as in `user + ':' + phone`"),
            ("'$user:' + phone", says),
            ("'{user}:' + phone", says),
            ("'{ip}:' + phone", "as in `@ip + ':' + phone`"),
            ("'${tenant}:' + phone", says),
            ("['@ip', user.id]", says),
            ("'sms @ip ' + phone", says),
        ],
    );
    compile_keys(
        SEND,
        &[
            "'tenant:' + phone",
            "'ip:' + phone",
            "'user#' + phone",
            "'mail@ip:' + phone",
            "'#1:' + phone",
            "'@:' + phone",
            "'@nobody:' + phone",
            "'{tag}:' + phone",
            "'$:' + phone",
            "['ip', phone]",
        ],
    );
}

#[test]
fn words_of_habit_as_the_only_text() {
    hold_keys(
        SEND,
        &[
            ("'client_ip'", "as in `@ip`; one budget for all needs no `key`"),
            ("'remote_addr'", "as in `@ip`"),
            ("'REMOTE_ADDR'", "as in `@ip`"),
            ("'x-api-key'", "as in `@header['x-api-key'] ?: @ip`"),
            ("'X-Forwarded-For'", "as in `@ip`"),
            ("'X-Tenant-Id'", "as in `@header['x-tenant-id'] ?: @ip`"),
            ("'header:x-api-key'", "as in `@header['x-api-key'] ?: @ip`"),
            ("'authorization'", "as in `@header['authorization'] ?: @ip`"),
            ("'per_ip'", "as in `@ip`"),
            ("'by ip'", "as in `@ip`"),
            ("'login_ip'", "as in `'login:' + @ip`"),
            ("'login:ip'", "as in `'login:' + @ip`"),
            ("'ip-rate-limit'", "as in `@ip`"),
            ("'KeyByIP'", "as in `@ip`"),
            ("'request.ip'", "as in `@ip`"),
            ("'request.path'", "as in `@path`"),
            ("'per_endpoint'", "as in `@route`"),
            ("'self.tenant'", "as in `@tenant ?: @ip`"),
            ("'args[0]'", "as in `args[0]`"),
            ("'sms:$1'", "as in `'sms:' + phone`"),
            ("'sms:<to>'", "as in `'sms:' + phone`"),
            ("'sms:*'", "as in `'sms:' + phone`"),
            ("'sms_phone'", "as in `'sms:' + phone`"),
            ("'smsByPhone'", "as in `'sms:' + phone`"),
            ("'/users/:id'", "as in `'/users/' + phone`"),
            ("'org_id'", "as in `phone`"),
            ("'user.id'", "as in `user.id`"),
            ("'user_id'", "as in `user`"),
            ("'lower(phone)'", "as in `lower(phone)`"),
            ("'@user ?: @ip'", "as in `@user ?: @ip`"),
            ("'user:{user.id}:{phone}'", "as in `'user:' + user.id + ':' + phone`"),
            ("'user:' + 'phone'", "as in `user + ':' + phone`"),
            ("'user_or_ip'", "as in `user ?: @ip`"),
            ("('phone')", "as in `phone`"),
            ("'@ip' + '#phone'", "as in `@ip + phone`"),
        ],
    );
    hold_keys(
        SEND_TO,
        &[
            ("'user'", "as in `@user ?: @ip`"),
            ("'user_id'", "as in `@user ?: @ip`"),
            ("'tenant'", "as in `@tenant ?: @ip`"),
            ("'phone'", "as in `to`"),
            ("'sms_phone'", "as in `'sms:' + to`"),
            ("'sms_to'", "as in `'sms:' + to`"),
            ("'lower(to)'", "as in `lower(to)`"),
        ],
    );
    hold_keys(NOTHING, &[("'user_id'", "as in `@user ?: @ip`"), ("'args[0]'", "as in `@ip`")]);
    hold(
        SEND,
        &[(
            "key = \"phone\", capacity = 5, refill = 1, group = \"'tenant_id'\"",
            "as in `@tenant ?: @ip`; one slot for all is `'all'`",
        )],
    );
}

/// One budget for all has its spellings.
#[test]
fn texts_that_name_nobody() {
    compile_keys(
        SEND_TO,
        &[
            "'global'",
            "'all'",
            "'sms'",
            "'send_sms'",
            "'sms v2'",
            "'login'",
            "'export'",
            "'user_export'",
            "'token-refresh'",
            "'email_digest'",
            "'ip_lookup'",
            "'users'",
            "'v1.2'",
            "'per_minute'",
            "'100%'",
            "'sms#1'",
            "'add_to_cart'",
            "'create_user'",
            "'verify_email'",
            "'delete-account'",
            "'sendMail'",
            "'send email'",
            "'rotate_api_key'",
            "'短信'",
        ],
    );
    // Whoever writes the function's own name means the function.
    compile_keys(
        "fn reset_by_email(form: Form) -> Result<(), Error> { Ok(()) }",
        &["'reset_by_email'", "'resetByEmail'"],
    );
    assert_eq!(errors("capacity = 5, refill = 1", SEND_TO), [""; 0]);
}

#[test]
fn names_joined_as_in_texts() {
    hold_keys(
        LOGIN,
        &[
            ("tenant-user", "write `tenant + '-' + user`"),
            ("tenant/user", "write `tenant + '/' + user`"),
            ("tenant:user", "write `tenant + ':' + user`"),
            ("tenant_user", "write `tenant + '_' + user`"),
            ("tenant user", "write `tenant + user`"),
            ("tenant, user", "write `[tenant, user]`"),
            ("(tenant, user)", "write `[tenant, user]`"),
            ("{tenant, user}", "write `[tenant, user]`"),
            ("ip/24", "write `prefix(ip, 24)`"),
            ("@ip/24", "write `prefix(@ip, 24)`"),
            ("prefix(ip/24)", "write `prefix(ip, 24)`"),
            ("user or ip", "write `user ?: ip`"),
            ("user | ip", "write `user ?: ip`"),
            ("login:user", "write `'login:' + user`"),
            ("login:@ip", "write `'login:' + @ip`"),
            ("/login/{user}", "write `'/login/' + user`"),
            ("/login/:user", "write `'/login/' + user`"),
            ("{0}:{1}", "write `tenant + ':' + user`"),
            ("user | lower", "write `lower(user)`"),
            ("-1", "a number is the same for all calls"),
            ("tenant % 10", "write the key in Rust"),
            ("lower user", "`lower` takes one value: `lower(phone)`"),
            ("'it's:' + user", "a quote in a text is doubled, as in `'it''s'`"),
            ("'it:'user", "`+` is missing before `user`"),
        ],
    );
}

#[test]
fn quotes_and_templates_of_other_languages() {
    hold_keys(
        SEND,
        &[
            ("`phone`", "straight single quotes: `'text'`; write `phone`"),
            ("`sms:${phone}`", "write `'sms:' + phone`"),
            ("`sms:${phone}:${user.id}`", "write `'sms:' + phone + ':' + user.id`"),
            ("\"sms:\" + #phone", "write `'sms:' + #phone`"),
            ("\"'sms:' + #phone\"", "write `'sms:' + #phone`"),
            ("“sms:” + phone", "write `'sms:' + phone`"),
            ("f\"sms:{phone}\"", "write `'sms:' + phone`"),
            ("$\"sms:{phone}\"", "write `'sms:' + phone`"),
            ("\"sms:%s\" % phone", "write `'sms:' + phone`"),
            ("\"sms:{}\".format(phone)", "write `'sms:' + phone`"),
            (
                "fmt.Sprintf(\"sms:%s:%s\", phone, user.id)",
                "write `'sms:' + phone + ':' + user.id`",
            ),
            ("format!(\"sms:{}\", phone)", "write `'sms:' + phone`"),
            ("\"sms:#{phone}\"", "write `'sms:' + phone`"),
            ("\"sms:{$phone}\"", "write `'sms:' + phone`"),
            ("sms:{phone}:{user.id}", "write `'sms:' + phone + ':' + user.id`"),
            ("sms:${user.id}", "write `'sms:' + user.id`"),
            ("${user.id}", "write `user.id`"),
            ("{user.id}", "write `user.id`"),
            ("{{ phone }}", "write `phone`"),
            ("@{ip}", "write `@ip`"),
            ("@{phone}", "write `phone`"),
            ("#{#phone}", "write `phone`"),
            ("user?.id ?? 'x'", "write `user?.id ?: 'x'`"),
            ("user&.id || 'x'", "write `user?.id ?: 'x'`"),
            ("user ? user.id : 'x'", "write `user?.id ?: 'x'`"),
            ("@user or @ip", "a default is written `?:`; write `@user ?: @ip`"),
            ("@user || @ip", "write `@user ?: @ip`"),
            ("@user : @ip", "write `@user ?: @ip`"),
            ("@user ?: anonymous", "write `@user ?: 'anonymous'`"),
            ("mask(@ip, 24)", "write `prefix(@ip, 24)`"),
            ("phone.trim().toLowerCase()", "write `lower(trim(phone))`"),
            ("phone.ToString()", "write `phone`"),
        ],
    );
}

#[test]
fn what_a_request_has_elsewhere() {
    hold_keys(
        SEND,
        &[
            ("headers['x-api-key']", "a header is written `@header['x-api-key'] ?: @ip`"),
            ("headers['X-Tenant']", "write `@header['x-tenant'] ?: @ip`"),
            ("request.headers['x']", "write `@header['x'] ?: @ip`"),
            ("req.get('X-Tenant')", "write `@header['x-tenant'] ?: @ip`"),
            ("r.Header.Get(\"X-Tenant\")", "write `@header['x-tenant'] ?: @ip`"),
            ("#request.getHeader('X-Tenant')", "write `@header['x-tenant'] ?: @ip`"),
            ("request.META['HTTP_X_TENANT']", "write `@header['x-tenant'] ?: @ip`"),
            ("req.env['HTTP_X_TENANT']", "write `@header['x-tenant'] ?: @ip`"),
            ("header:x-tenant", "write `@header['x-tenant'] ?: @ip`"),
            ("$http_x_tenant", "write `@header['x-tenant'] ?: @ip`"),
            ("$request->header('X-Tenant')", "write `@header['x-tenant'] ?: @ip`"),
            ("req.headers['x-forwarded-for'] || req.socket.remoteAddress", "write `@ip`"),
            ("$binary_remote_addr", "did you mean `@ip`?"),
            ("$binary_remote_addr$request_uri", "write `@ip + @path`"),
            ("req.ip", "did you mean `@ip`?"),
            ("req.ip + ':' + req.path", "write `@ip + ':' + @path`"),
            ("ip + path", "write `@ip + @path`"),
            ("(req) => req.ip", "a key is a value and no closure; write `@ip`"),
            ("lambda: request.remote_addr", "write `@ip`"),
            ("lambda r: r.client.host", "write `@ip`"),
            ("req.user?.id ?? req.ip", "write `@user ?: @ip`"),
            ("req.user ? req.user.id : req.ip", "write `@user ?: @ip`"),
            ("current_user&.id || request.remote_ip", "write `@user ?: @ip`"),
            ("current_user.id or request.remote_addr", "write `@user ?: @ip`"),
            ("httpContext.User.Identity?.Name ?? \"anonymous\"", "write `@user ?: 'anonymous'`"),
            ("context.Connection.RemoteIpAddress", "write `@ip`"),
            ("'login|' . $request->ip()", "write `'login|' + @ip`"),
            ("getRemoteAddr()", "write `@ip`"),
            ("get_remote_address", "write `@ip`"),
            ("httprate.KeyByIP", "write `@ip`"),
            ("#principal?.name ?: 'anonymous'", "write `@user ?: 'anonymous'`"),
            ("#exchange.getRequest().getRemoteAddress()", "write `@ip`"),
            ("@client ?: @ip", "write `@user ?: @ip`"),
        ],
    );
    hold_keys(
        LOGIN,
        &[("user_or_ip", "write `user ?: ip`"), ("auth()->id() ?? ip", "write `@user ?: ip`")],
    );
}

#[test]
fn composed_keys_are_accepted() {
    compile_keys(
        LOGIN,
        &[
            "tenant + ':' + user",
            "[tenant, user, ip]",
            "'login:' + prefix(ip, 24)",
            "lower(trim(user)) ?: ip",
            "['login', tenant, lower(user)]",
            "'tenant' + tenant + 'user' + user",
            "'ip' + ip + '/' + @method",
            "args[0] + args[1]",
            "#tenant + '-' + #user",
            "prefix(@ip, 24, 48)",
            "@user ?: @ip",
            "'ip:' + @ip",
            "hash(@header['authorization']) ?: @ip",
            "'it''s:' + user",
        ],
    );
}
