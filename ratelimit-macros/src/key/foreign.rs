//! What other expression languages have and this one has not: one line for each, with what to write
//! here. To add one, add a line; words and signs stand between blanks.

use crate::words::{has, snake_case};

/// What stands elsewhere, and what to write.
type Line = (&'static str, &'static str);

pub(super) const RUST: &str = "write the key in Rust, without the quotes around it";
const CONDITION: &str =
    "conditions stand in `when = ..`, or in a key in Rust, without the quotes around it";
const TEMPLATE: &str = "names take no braces, and there are no templates: `+` joins, as in `'sms:' + phone`, and a list is `[a, b]`";
const CLOSURE: &str = "a key is a value and no closure: write what it returns, as in `user.id`";
const JOINED: &str = "`+` joins, as in `'sms:' + phone`";
const DEFAULT: &str = "a default is written `?:`, as in `user ?: 'anonymous'`";
const TEXT: &str = "text stands in single quotes, and `+` joins, as in `'sms:' + phone`";
/// After a word that is no argument, as in `x-api-key`.
pub(super) const TEXT_OR_HEADER: &str = "text stands in single quotes, as in `'a-b'`, and a header is written `@header['x-api-key'] ?: @ip`";
const HEADER: &str = "a header is written `@header['x-api-key'] ?: @ip`";
const USER: &str = "who calls is `@user ?: @ip`";
/// What is said of a request and no other name.
const A_REQUEST: &str = "`@path` or";
const METHOD: &str = "the rule's name, by default the function's path, is in the key anyway";

/// Signs where a value should begin.
const BEFORE_A_VALUE: &[Line] = &[
    ("{ } #{ ${ % %% {{", TEMPLATE),
    ("$", "names stand as they are, as in `phone`"),
    ("&", "names are borrowed anyway: leave `&` out"),
    ("*", "references are followed anyway: leave `*` out"),
    ("| || ->", CLOSURE),
    ("/", "text stands in single quotes, as in `'/login'`, and a request's path is `@path`"),
    ("! == != < >", CONDITION),
    ("- ~ ^", RUST),
    ("::", RUST),
];

/// Words that begin something, and stand before a value.
const BEGINNING: &[Line] =
    &[("new", RUST), ("f fr rf", TEMPLATE), ("if match switch when case unless not", CONDITION)];

/// Signs and words after a value, where `+` should stand.
const AFTER_A_VALUE: &[Line] = &[
    (
        "?",
        "conditions stand in `when = ..`, and a default is written `?:`, as in `user ?: 'anonymous'`",
    ),
    ("== != <= >= < > && & = ! and not eq ne gt lt ge le matches instanceof in is if", CONDITION),
    ("|| ?? or &.", DEFAULT),
    ("-> => |", CLOSURE),
    ("as", "casts stand in a key in Rust, without the quotes around it"),
    ("::", "paths stand in a key in Rust, without the quotes around it"),
    ("- * / % ^ ~ .. div mod", RUST),
    ("{ }", TEMPLATE),
];

/// Names that are no arguments. An argument of that name comes first.
const NAMES: &[Line] = &[
    (
        "root",
        "`args[0]` is the first argument, `self` the object, and the rule's name is in the key anyway",
    ),
    ("this target", "the object is `self`"),
    ("method_name target_class class_name", METHOD),
    ("result return_value", "a key is computed before the function runs"),
    ("null nil none undefined nothing", DEFAULT),
    ("global all everyone everybody shared", "one budget for all callers needs no `key`"),
    (
        "request req http http_request servlet_request ctx context http_context exchange server flask g r c",
        "what a request has is written `@ip`, `@path` or `@header['x-api-key']`",
    ),
    ("header headers cookie cookies", HEADER),
    ("principal authentication auth session security_context current_user caller", USER),
    ("user user_id uid username user_name", USER),
    (
        "ip ip_address ip_addr binary_remote_addr client_ip remote_ip remote_addr remote_address real_ip peer addr host",
        "did you mean `@ip`?",
    ),
    ("path uri url request_uri endpoint request_path", "did you mean `@path`?"),
    ("route matched_path", "did you mean `@route`?"),
    ("method http_method verb", "did you mean `@method`?"),
    ("tenant tenant_id", "did you mean `@tenant ?: @ip`?"),
    ("device device_id", "did you mean `@device ?: @ip`?"),
    ("api_key apikey x_api_key token", HEADER),
];

/// Functions.
const FUNCTIONS: &[Line] = &[
    ("t", RUST),
    (
        "to_lower_case to_lowercase lowercase lower_case to_lower lcase upper to_upper_case to_uppercase uppercase",
        "did you mean `lower`?",
    ),
    ("strip trim_start trim_end", "did you mean `trim`?"),
    ("md5 sha sha1 sha256 sha512 hmac digest hash_code crc32 murmur", "did you mean `hash`?"),
    ("subnet network mask cidr", "did you mean `prefix`?"),
    ("normalize nfkc casefold case_fold unicode_fold", "did you mean `fold`?"),
    ("concat format sprintf printf join string_format", JOINED),
    ("coalesce ifnull if_null nvl default or_else", DEFAULT),
    ("header get_header", HEADER),
    ("ip get_ip client_ip remote_addr", "did you mean `@ip`?"),
    ("if when case", CONDITION),
    ("str string to_string int", "it is not needed: leave it out"),
];

/// Methods, as in `phone.trim()`.
const METHODS: &[Line] = &[
    (
        "to_lower_case to_lowercase to_ascii_lowercase to_lower tolower downcase lower",
        "a function does it, `lower(phone)`",
    ),
    ("trim strip", "a function does it, `trim(phone)`"),
    ("hash hash_code md5 sha256", "a function does it, `hash(phone)`"),
    ("concat plus append join push_str", JOINED),
    ("unwrap_or unwrap_or_default unwrap_or_else or_else get_or_default or_default", DEFAULT),
    (
        "to_string to_owned to_s as_str as_ref clone into string value_of borrow itoa sprint",
        "it is not needed: leave it out",
    ),
    ("get_header header", HEADER),
    (
        "client_ip real_ip get_client_ip get_remote_addr get_remote_host remote_addr peer_addr",
        "a request's address is `@ip`",
    ),
];

/// What a request has, by its field's name, as in `request.ip`.
const FIELDS: &[Line] = &[
    (
        "ip remote_addr remote_address client_ip remote_ip peer_addr remote_host host addr",
        "did you mean `@ip`?",
    ),
    (
        "path uri url request_uri path_info servlet_path original_url full_path",
        "did you mean `@path`?",
    ),
    ("route pattern matched_path best_matching_pattern template", "did you mean `@route`?"),
    ("method http_method", "did you mean `@method`?"),
    ("user user_id principal remote_user auth user_principal", "did you mean `@user ?: @ip`?"),
    ("headers header", HEADER),
    ("tenant tenant_id", "did you mean `@tenant ?: @ip`?"),
    ("device device_id", "did you mean `@device ?: @ip`?"),
];

/// After text, where other languages join.
pub(super) fn after_a_text(sign: &str) -> Option<&'static str> {
    has("& || % ~ ^ && <> ++ -", sign).then_some(JOINED)
}

/// What to write for an argument behind `@`.
pub(super) fn argument(name: &str) -> String {
    format!("an argument stands as it is, `{name}`")
}

/// An answer, with the key itself where that is Rust and the answer asks for it.
pub(super) fn spelled_out(instead: &str, source: &str) -> String {
    let source = source.trim().replace('#', "");
    let is_rust = instead.contains(" Rust, without the quotes around it")
        && !source.contains(['\'', '?'])
        && syn::parse_str::<syn::Expr>(&source).is_ok();
    if is_rust { format!("{instead}: `key = {source}`") } else { instead.to_owned() }
}

/// What a message offers of a request, such as `@user ?: @ip`.
pub(super) fn written(instead: &'static str) -> Option<&'static str> {
    if instead.contains(A_REQUEST) {
        return None;
    }
    let value = instead.get(instead.find("`@")? + 1..)?;
    value.get(..value.find('`')?)
}

/// The function that does what a method does elsewhere; nothing where none is needed.
pub(super) fn function_of_method(name: &str) -> Option<&'static str> {
    let instead = method(name);
    if instead.ends_with("leave it out") {
        return Some("");
    }
    instead.strip_prefix("a function does it, `")?.split('(').next()
}

/// `message`, with the whole key to write in place of an example.
pub(super) fn with_key(message: &str, key: &str) -> String {
    let mut head = message;
    for example in EXAMPLES {
        head = head.split(example).next().unwrap_or_default();
    }
    let head = head.trim_end_matches([' ', ';']);
    let joint = if head.ends_with(':') { "" } else { ";" };
    format!("{head}{joint} write `{key}`")
}

/// How what is only an example begins in a message.
const EXAMPLES: [&str; 12] = [
    ": `key = ",
    "what a request has is written `",
    ": write `@header[",
    ": write what it returns",
    "; text is written `",
    ", as in `",
    "write the key in Rust",
    "a header is written `",
    "did you mean `",
    "who calls is `",
    " one of yours stands in a key in",
    " a field is `",
];

pub(super) fn before_a_value(sign: &str) -> &'static str {
    find(BEFORE_A_VALUE, sign).unwrap_or(TEXT)
}

/// `None` for a word that is not foreign here.
pub(super) fn beginning(word: &str) -> Option<&'static str> {
    find(BEGINNING, word)
}

/// `None` for a word that is not foreign here.
pub(super) fn after_a_value(sign: &str) -> Option<&'static str> {
    find(AFTER_A_VALUE, sign)
}

pub(super) fn sign_after_a_value(sign: &str) -> &'static str {
    after_a_value(sign).unwrap_or(TEXT)
}

/// A name of another language, and what to write; `field` is what stands behind its `.`.
pub(super) fn name(name: &str, field: Option<&str>) -> Option<&'static str> {
    let name = snake_case(name);
    let field = field.filter(|_| is_request(&name)).and_then(self::field);
    field.or_else(|| find(NAMES, &name))
}

/// Whether a name is what a request is called elsewhere.
pub(super) fn is_request(name: &str) -> bool {
    find(NAMES, &snake_case(name)).is_some_and(|instead| instead.contains(A_REQUEST))
}

/// What a request has, by the name of its field.
pub(super) fn field(name: &str) -> Option<&'static str> {
    find(FIELDS, &snake_case(name))
}

pub(super) fn function(name: &str) -> Option<&'static str> {
    find(FUNCTIONS, &snake_case(name))
}

pub(super) fn method(name: &str) -> &'static str {
    find(METHODS, &snake_case(name)).unwrap_or(RUST)
}

fn find(table: &[Line], word: &str) -> Option<&'static str> {
    table.iter().find(|(words, _)| has(words, word)).map(|(_, instead)| *instead)
}
