//! What the arguments mean together. Whatever passes here can be expanded.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Expr, Ident, LitStr, Path, Type};

use crate::address;
use crate::args::{Args, Given, last_word, text};
use crate::error::{Errors, error_at};
use crate::expand;
use crate::flow;
use crate::foreign::{self, not_a_local, not_one_word, one_word_like, text_without_quotes};
use crate::function::{Function, Scope};
use crate::handler;
use crate::key;
use crate::krate;
use crate::message::{Message, messages};
use crate::quantity::{self, Known, MAX_LOG, Number, unwrapped};
use crate::scan;
use crate::symbol::{Algo, Arg, HEADERS, MODES, ON_ERRORS, listed, meant_by};
use crate::unused;
use crate::words;
use crate::written::{Kind, Piece, close_line, find, key_line, pieces};

messages! {
    unknown_word(arg, word, values) = "unknown value `{word}` for `{arg}`: there are {values}";
    unknown_word_like(arg, word, near, values) =
        "unknown value `{word}` for `{arg}`, did you mean `{near}`? there are {values}";
    unknown_word_instead(arg, word, instead) = "unknown value `{word}` for `{arg}`: {instead}";
    missing(algo, numbers) = "`{algo}` needs {numbers}";
    missing_by_default(algo, numbers) = "`{algo}`, the default `algo`, needs {numbers}";
    not_taken(algo, args, numbers) = "`{algo}` does not take {args}: it takes {numbers}";
    not_beside(arg, other, instead) =
        "`{arg}` does not go with `{other}`: beside `{other}`, write {instead}";
    not_taken_by_default(algo, arg, other, others) =
        "`{algo}`, the default `algo`, does not take `{arg}`: write `algo = {other}`{others}";
    window_beside_rate(rate, instead) =
        "a bucket has no `window`: the time is a part of `{rate}`, as in `{rate} = {instead}`";
    cost_above(cost, arg, limit) =
        "a cost of {cost} is more than the `{arg}` of {limit}: no call would ever pass";
    not_text(arg) = "`{arg}` takes a text in quotes";
    value_as_name(arg, key) =
        "a `{arg}` is one for all calls: what differs stands in the key, as in `key = \"{key}\"`";
    name_differs(written, arg, instead) =
        "`{written}` is text here, and a `{arg}` is one for all calls: what differs stands in the \
         key, as in `key = \"{instead}\"`";
    no_name(arg) = "`{arg}` is empty: write one, or leave it out";
    long_name(arg) = "`{arg}` can be 128 bytes at most";
    not_a_path() = "`crate` takes the path of the crate, like `crate = ::my_limits`";
    wait_without_line() =
        "`wait` waits in the line of a leaky bucket, and no rule here has one: \
         write `algo = leaky_bucket`, or remove `wait`";
    local_is_taken(name) =
        "`{name}` is an argument of the function: give the decision another name";
    later(arg) = "`{arg}` does not exist yet: remove it";
    const_fn() =
        "a `const fn` cannot be limited, because a limit needs a clock: \
         remove `const`, or limit a function that calls it";
    no_answer() =
        "the function returns nothing that could say that a call was refused: \
         return a `Result`, or write `on_limited = ..`";
    same_rule() = "the function has this rule already: remove one";
    same_name(name) =
        "the function has a rule `{name}` with other numbers already: give this one another `name`";
    same_default_name() =
        "the function has a rule with these numbers already, and would give both one name: \
         write a `name`";
}

/// How long the name of a rule or service can be, in bytes. It is a part of every key in Redis.
const MAX_NAME: usize = 128;

/// Everything that one function's attributes say.
pub(crate) struct Limits {
    /// The path of the facade.
    pub(crate) krate: Path,
    /// Whether that is what `crate` says.
    pub(crate) krate_is_written: bool,
    pub(crate) rules: Vec<Rule>,
    pub(crate) limiter: Option<Expr>,
    /// Compiled to a `LimitKey`.
    pub(crate) group: Option<TokenStream>,
    pub(crate) wait: Option<Number>,
    pub(crate) on_limited: Option<Expr>,
    pub(crate) on_unavailable: Option<Expr>,
    /// The name under which the body finds the decision.
    pub(crate) decision: Option<Ident>,
}

/// One rule.
pub(crate) struct Rule {
    pub(crate) name: Option<LitStr>,
    pub(crate) service: Option<LitStr>,
    pub(crate) algo: Algo,
    /// In the order of [`Algo::takes`].
    pub(crate) numbers: Vec<(Arg, Number)>,
    /// Compiled to a `LimitKey`.
    pub(crate) key: Option<TokenStream>,
    pub(crate) cost: Option<Number>,
    pub(crate) when: Option<Expr>,
    /// A variant of the runtime's `Mode`.
    pub(crate) mode: Option<&'static str>,
    /// A variant of the runtime's `OnError`.
    pub(crate) on_error: Option<&'static str>,
    pub(crate) hides_headers: bool,
}

impl Rule {
    /// The algorithm and its numbers as one word. Tells apart the rules of a function that have no
    /// written name, in whatever order they stand, and must not change from one compiler to another.
    pub(crate) fn numbers_text(&self) -> String {
        let mut text = self.algo.name().to_owned();
        for (_, number) in &self.numbers {
            text.push(',');
            text.push_str(&match number {
                Number::Known(known) => known.to_string(),
                Number::PerCall(expr) => squeezed(expr.to_token_stream()),
            });
        }
        text
    }
}

/// Reads the attributes of one function, first to last. `None` after errors.
pub(crate) fn check(stack: &[Args], function: &Function, errors: &mut Errors) -> Option<Limits> {
    let before = errors.len();
    let scope = function.scope();
    let krate = krate(stack.first()?, errors);
    if let Some(constness) = &function.sig.constness {
        errors.at(constness, const_fn());
    }
    let mut rules: Vec<(&Args, Rule)> = Vec::new();
    for args in stack {
        let mut reader = Reader { args, scope: &scope, krate: &krate, errors };
        if let Some(rule) = reader.rule() {
            // What was not read could be what tells them apart.
            if !args.is_mistaken() && rules.iter().all(|(old, _)| !old.is_mistaken()) {
                distinct(&rules, &rule, args, reader.errors);
            }
            rules.push((args, rule));
        }
    }
    let rules = rules.into_iter().map(|(_, rule)| rule).collect();
    let mut reader = Reader { args: stack.first()?, scope: &scope, krate: &krate, errors };
    let limits = reader.limits(rules, function);
    if errors.len() == before {
        unused::check(stack.first()?, &limits, errors);
    }
    (errors.len() == before).then_some(limits)
}

/// `refill = 10, window = 60` as `"10/min"`, where the window is written out.
fn rate_in_window(rate: &Expr, window: &Expr) -> Option<String> {
    if let Some(text) = text(rate) {
        return Some(format!("\"{}\"", text.value()));
    }
    let nothing = |_: &str| false;
    let Ok(Number::Known(Known::Micros(micros))) =
        quantity::read("window", quantity::Quantity::Duration, window, &nothing)
    else {
        return None;
    };
    let Some(permits) = quantity::literal_int(rate) else {
        let written = close_line(&pieces(rate.to_token_stream()));
        return Some(format!("Rate::new({written}, Duration::from_micros({micros}))"));
    };
    let permits = permits.base10_digits();
    Some(match scan::in_units(micros) {
        (1, unit) => format!("\"{permits}/{unit}\""),
        (times, unit) => format!("\"{permits}/{times}{unit}\""),
    })
}

/// Reads one attribute.
struct Reader<'a> {
    args: &'a Args,
    scope: &'a Scope<'a>,
    krate: &'a Path,
    errors: &'a mut Errors,
}

impl<'a> Reader<'a> {
    fn limits(&mut self, rules: Vec<Rule>, function: &Function) -> Limits {
        if let Some(given) = self.args.get(Arg::Priority) {
            self.errors.at(&given.name, later(&given.name));
        }
        let wait = self.args.get(Arg::Wait);
        let has_line = rules.iter().any(|rule| rule.algo == Algo::LeakyBucket);
        // A rule that could not be read may have been the one with a line.
        let wait_for = wait.and_then(|given| self.number(given, quantity::Quantity::Duration));
        if let (Some(given), false, true) = (wait, has_line, self.errors.is_empty()) {
            self.errors.at(&given.name, wait_without_line());
        }
        let on_limited = self.handler(Arg::OnLimited, function);
        let on_unavailable = self.handler(Arg::OnUnavailable, function);
        if self.args.get(Arg::OnLimited).is_none() && !self.args.misread().contains(&Arg::OnLimited)
        {
            self.can_refuse(function);
        }
        Limits {
            krate: self.krate.clone(),
            krate_is_written: self.args.get(Arg::Crate).is_some(),
            rules,
            limiter: self.expression(Arg::Limiter),
            group: self.key(Arg::Group),
            wait: wait_for,
            on_limited,
            on_unavailable,
            decision: self.local(Arg::Decision),
        }
    }

    /// A name that the body gets.
    fn local(&mut self, arg: Arg) -> Option<Ident> {
        let given = self.args.get(arg)?;
        let ident = match &given.value {
            Expr::Path(path) if path.attrs.is_empty() => path.path.get_ident(),
            _ => None,
        };
        let Some(ident) = ident.filter(|ident| *ident != "self") else {
            self.errors.at(&given.value, not_a_local(&given.name));
            return None;
        };
        if self.scope.names.iter().any(|name| name.ident == ident) {
            self.errors.at(ident, local_is_taken(ident));
            return None;
        }
        Some(ident.clone())
    }

    /// A return type of nothing has no room for a refusal, which rustc would put less clearly.
    fn can_refuse(&mut self, function: &Function) {
        match function.returned() {
            None => self.errors.at(&function.sig.ident, no_answer()),
            Some(ty @ Type::Never(_)) => self.errors.at(ty, no_answer()),
            Some(ty @ Type::Tuple(tuple)) if tuple.elems.is_empty() => {
                self.errors.at(ty, no_answer());
            }
            Some(_) => {}
        }
    }

    fn rule(&mut self) -> Option<Rule> {
        let before = self.errors.len();
        let algo = self.algo();
        let numbers = algo.map(|algo| self.numbers(algo)).unwrap_or_default();
        let rule = Rule {
            name: self.name(Arg::Name),
            service: self.name(Arg::Service),
            algo: algo.unwrap_or(Algo::TokenBucket),
            cost: self.cost(&numbers),
            numbers,
            key: self.key(Arg::Key),
            when: self.expression(Arg::When),
            mode: self.one_of(Arg::Mode, MODES),
            on_error: self.one_of(Arg::OnError, ON_ERRORS),
            hides_headers: self.one_of(Arg::Headers, HEADERS) == Some("hidden"),
        };
        (self.errors.len() == before).then_some(rule)
    }

    /// The algorithm; `None` when there is no telling.
    fn algo(&mut self) -> Option<Algo> {
        let Some(given) = self.args.get(Arg::Algo) else {
            if !self.args.misread().contains(&Arg::Algo) {
                return Some(Algo::TokenBucket);
            }
            let word = last_word(self.args.misnamed_algo()?)?;
            return meant_by(Arg::Algo, &word, Algo::names()).and_then(Algo::find);
        };
        let word = self.word(given, Algo::names())?;
        let algo = Algo::find(&word);
        if algo.is_none() {
            self.unknown_word(given, &word, Algo::names());
        }
        algo
    }

    /// The numbers of the algorithm: all that it needs, none that it does not take.
    fn numbers(&mut self, algo: Algo) -> Vec<(Arg, Number)> {
        let is_foreign = |arg: &Arg| arg.quantity().is_some() && !algo.takes().contains(arg);
        let foreign: Vec<&Given> =
            self.args.iter().filter(|given| is_foreign(&given.arg)).collect();
        // Of a rule in the words of another limiter, its names come first.
        let is_translated = self.args.get(Arg::Algo).is_none()
            && self.args.misread().iter().any(|arg| *arg == Arg::Algo || arg.quantity().is_some());
        if let Some(first) = foreign.first()
            && is_translated
            && !algo.takes().contains(&first.arg)
        {
            return Vec::new();
        }
        if let Some(first) = foreign.first() {
            // One mistake, and not one for each number, nor another for what is missing then.
            let error = self.foreign_numbers(algo, first, &foreign);
            self.errors.push(error);
            if self.args.get(Arg::Algo).is_none() {
                return Vec::new();
            }
        }
        let missing_numbers: Vec<&str> = algo
            .needs()
            .iter()
            .filter(|arg| self.args.get(**arg).is_none() && !self.args.misread().contains(arg))
            .map(|arg| arg.name())
            .collect();
        let is_clear = foreign.is_empty()
            && self.args.was_read()
            && !self.args.misread().iter().any(is_foreign)
            && !self.has_rate_as_count();
        if is_clear && !missing_numbers.is_empty() {
            let numbers = listed(missing_numbers.into_iter(), "and");
            let error = match self.args.get(Arg::Algo) {
                Some(given) => error_at(&given.value, missing(algo.name(), numbers)),
                None => self.args.error(missing_by_default(algo.name(), numbers)),
            };
            self.errors.push(error);
        }
        algo.takes().iter().filter_map(|arg| Some((*arg, self.number_of(algo, *arg)?))).collect()
    }

    /// What is wrong with numbers that the algorithm does not take; `first` is the first of them.
    fn foreign_numbers(&self, algo: Algo, first: &Given, foreign: &[&Given]) -> syn::Error {
        let is_given = |arg: Arg| self.args.get(arg).is_some();
        let is_written = is_given(Arg::Algo) || self.args.misread().contains(&Arg::Algo);
        let all = || listed(foreign.iter().map(|given| given.arg.name()), "and");
        let takes = || listed(algo.takes().iter().map(|arg| arg.name()), "and");
        let find = |arg: Arg| foreign.iter().find(|given| given.arg == arg);
        let rate = [Arg::Refill, Arg::Leak].into_iter().find(|rate| is_given(*rate));
        if let (Some(window), Some(rate), true) =
            (find(Arg::Window), rate, algo.takes().contains(&Arg::Capacity))
            && find(Arg::Limit).is_none()
        {
            let given = self.args.get(rate);
            let instead = given.and_then(|given| rate_in_window(&given.value, &window.value));
            let instead = instead.unwrap_or_else(|| "\"300/min\"".to_owned());
            return error_at(&window.name, window_beside_rate(rate.name(), instead));
        }
        // Whoever writes the numbers of two algorithms has one of them wrong.
        let pair = match (find(Arg::Limit), find(Arg::Window), rate) {
            _ if is_written => None,
            (Some(limit), None, Some(rate)) if !is_given(Arg::Capacity) => {
                Some((limit, rate, "`capacity`".to_owned()))
            }
            (None, Some(window), None) if is_given(Arg::Capacity) => {
                let instead = "`refill`, or write `algo = fixed_window` and `limit`".to_owned();
                Some((window, Arg::Capacity, instead))
            }
            _ => None,
        };
        if let Some((wrong, other, instead)) = pair {
            return error_at(&wrong.name, not_beside(&wrong.name, other.name(), instead));
        }
        let needs_more = Algo::taking(first.arg).all(|other| {
            let takes = |given: &Given| {
                given.arg.quantity().is_none()
                    || Algo::find(other).is_some_and(|algo| algo.takes().contains(&given.arg))
            };
            !self.args.iter().all(takes)
        });
        if is_written || needs_more {
            return error_at(&first.name, not_taken(algo.name(), all(), takes()));
        }
        let mut taking = Algo::taking(first.arg);
        let other = taking.next().unwrap_or_default();
        let others: Vec<String> = taking.map(|algo| format!(" or `{algo}`")).collect();
        let message = not_taken_by_default(algo.name(), &first.name, other, others.concat());
        error_at(&first.name, message)
    }

    /// `limit = "1000/min"`: the text holds the time as well, and the error about it says so.
    fn has_rate_as_count(&self) -> bool {
        let is_bound = |word: &str| self.scope.binds(word);
        let limit = self.args.get(Arg::Limit);
        if limit.is_some_and(|limit| {
            quantity::count_with_time("limit", &limit.value, &is_bound).is_some()
        }) {
            return true;
        }
        [Arg::Capacity, Arg::Limit].into_iter().any(|arg| {
            let text = self.args.get(arg).and_then(|given| text(&given.value));
            text.is_some_and(|text| quantity::has_time(&text.value()))
        })
    }

    fn number_of(&mut self, algo: Algo, arg: Arg) -> Option<Number> {
        let given = self.args.get(arg)?;
        let is_bound = |word: &str| self.scope.binds(word);
        if arg == Arg::Limit
            && self.args.get(Arg::Window).is_none()
            && let Some(message) = quantity::count_with_time(arg.name(), &given.value, &is_bound)
        {
            self.errors.at(&given.value, message);
            return None;
        }
        let number = self.number(given, arg.quantity()?)?;
        match (algo, arg, number.count()) {
            (Algo::SlidingLog, Arg::Limit, Some(limit)) if limit > MAX_LOG => {
                self.errors.at(&given.value, quantity::too_large_log());
                None
            }
            _ => Some(number),
        }
    }

    /// Reports a text in the language of keys where a number or Rust stands.
    fn is_foreign_text(&mut self, given: &Given) -> bool {
        let text = text(&given.value);
        let Some((text, message)) =
            text.and_then(|text| Some((text, foreign::mistake_in_text(given.arg, text)?)))
        else {
            return false;
        };
        self.errors.at(text, message);
        true
    }

    /// Whether a value is an argument that is declared as a `Duration` or a `Rate`, whatever its name says.
    fn has_its_type(&self, value: &Expr, quantity: quantity::Quantity) -> bool {
        let wanted = match quantity {
            quantity::Quantity::Duration => "Duration",
            quantity::Quantity::Rate => "Rate",
            quantity::Quantity::Count | quantity::Quantity::Parts => return false,
        };
        let Expr::Path(path) = unwrapped(value) else { return false };
        let is_declared = |param: usize| match self.scope.params.get(param).map(|param| param.ty) {
            Some(Type::Path(ty)) => ty.path.segments.last().is_some_and(|it| it.ident == wanted),
            _ => false,
        };
        let is_same = |ident: &Ident| path.path.get_ident().is_some_and(|name| name == ident);
        self.scope.names.iter().any(|name| is_same(name.ident) && is_declared(name.param))
    }

    fn number(&mut self, given: &'a Given, quantity: quantity::Quantity) -> Option<Number> {
        if self.is_foreign_text(given) {
            return None;
        }
        if self.has_its_type(&given.value, quantity) {
            return Some(Number::PerCall(given.value.clone()));
        }
        let is_bound = |word: &str| self.scope.binds(word);
        let number = quantity::read(given.arg.name(), quantity, &given.value, &is_bound);
        self.checked(given, number)
    }

    fn checked(&mut self, given: &Given, number: syn::Result<Number>) -> Option<Number> {
        match number {
            Ok(Number::PerCall(expr)) => {
                flow::check(given.arg.name(), &expr, self.errors);
                Some(Number::PerCall(expr))
            }
            Ok(known) => Some(known),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    fn cost(&mut self, numbers: &[(Arg, Number)]) -> Option<Number> {
        let given = self.args.get(Arg::Cost)?;
        if self.is_foreign_text(given) {
            return None;
        }
        let is_bound = |word: &str| self.scope.binds(word);
        let cost = self.checked(given, quantity::read_cost(&given.value, &is_bound))?;
        if let Some(cost) = cost.count() {
            for (arg, number) in numbers {
                let counts = matches!(arg, Arg::Capacity | Arg::Limit);
                match number.count() {
                    Some(limit) if counts && cost > limit => {
                        self.errors.at(&given.value, cost_above(cost, arg.name(), limit));
                    }
                    _ => {}
                }
            }
        }
        Some(cost)
    }

    fn name(&mut self, arg: Arg) -> Option<LitStr> {
        let given = self.args.get(arg)?;
        let Some(name) = text(&given.value) else {
            let all = pieces(given.value.to_token_stream());
            let is_one = |piece: &Piece, _: &[Piece]| {
                piece.kind == Kind::Word && (piece.text == "self" || self.scope.binds(&piece.text))
            };
            let message = match unwrapped(&given.value) {
                _ if find(&all, &is_one).is_some() => value_as_name(&given.name, key_line(&all)),
                // A constant has another text than its name, which a macro cannot see.
                Expr::Path(path) if path.path.get_ident().is_none_or(is_constant) => {
                    not_text(&given.name)
                }
                Expr::Path(_) | Expr::Field(_) | Expr::Binary(_) | Expr::Lit(_) => {
                    text_without_quotes(&given.name, close_line(&all))
                }
                _ => not_text(&given.name),
            };
            self.errors.at(&given.value, message);
            return None;
        };
        if let Some((at, message)) = self.key_as_name(arg, &name.value()) {
            self.errors.in_key(name, at, &message);
        }
        match name.value().len() {
            0 => self.errors.at(name, no_name(arg.name())),
            1..=MAX_NAME => {}
            _ => self.errors.at(name, long_name(arg.name())),
        }
        Some(name.clone())
    }

    /// What in a name would differ from call to call in a key.
    fn key_as_name(&self, arg: Arg, name: &str) -> Option<(Range<usize>, Message)> {
        let arguments: Vec<String> =
            self.scope.names.iter().map(|name| name.ident.unraw().to_string()).collect();
        let names = key::placeholder::Names { arguments: &arguments, context: &key::CONTEXT };
        let is_label = |found: &key::placeholder::Placeholder| {
            // `#login` is a label, and `#phone` is not.
            let written = name.get(found.at.clone()).unwrap_or_default();
            written.starts_with(['#', '$', '?']) && !written.contains('{') && !found.is_known
        };
        if let Some(found) = names.placeholder(name).filter(|found| !is_label(found)) {
            let written = name.get(found.at.clone()).unwrap_or_default();
            return Some((found.at.clone(), name_differs(written, arg.name(), found.name)));
        }
        let all = 0..name.len();
        if name.contains("' + ") || name.contains(" + '") {
            return Some((all, name_differs(name, arg.name(), name)));
        }
        let inner = name.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
            return Some((all, text_without_quotes(arg.name(), inner)));
        }
        // Beside a key, or where `phone` is used, it is as good a name as any.
        let root = name.split('.').next().unwrap_or_default();
        let is_used = |given: &Given| {
            let all = pieces(given.value.to_token_stream());
            given.arg == Arg::Key || find(&all, &|piece, _| piece.is_word(root)).is_some()
        };
        let is_label = self.args.iter().any(is_used)
            || self.args.misread().contains(&Arg::Key)
            || arg == Arg::Service;
        let is_inside = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let is_argument =
            arguments.iter().any(|argument| argument == root) && name.chars().all(is_inside);
        let is_named = |word: &key::placeholder::Placeholder| {
            let root = word.name.split('.').next().unwrap_or_default();
            arguments.iter().any(|argument| argument == root)
        };
        let is_code = ["[", "(", "?.", "?:"].iter().any(|sign| name.contains(sign))
            && names.word(name).is_some_and(|word| is_named(&word));
        (!is_label && (is_argument || is_code)).then(|| (all, name_differs(name, arg.name(), name)))
    }

    /// A key: a text is the key language, anything else is Rust.
    fn key(&mut self, arg: Arg) -> Option<TokenStream> {
        let given = self.args.get(arg)?;
        let before = self.errors.len();
        flow::check(arg.name(), &given.value, self.errors);
        address::check(arg.name(), &given.value, self.scope, self.errors);
        if self.errors.len() > before {
            return None;
        }
        match text(&given.value) {
            Some(literal) => {
                let secret = expand::secret();
                key::compile(arg.name(), literal, self.scope, self.krate, &secret, self.errors)
            }
            None => {
                key::compile_rust(arg.name(), &given.value, self.scope, self.krate, self.errors)
            }
        }
    }

    /// An expression that is evaluated before the body and does not leave the function.
    fn expression(&mut self, arg: Arg) -> Option<Expr> {
        let given = self.args.get(arg)?;
        if self.is_foreign_text(given) {
            return None;
        }
        if let Some(error) = foreign::mistake_in_rust(arg, given.value.to_token_stream()) {
            self.errors.push(error);
            return None;
        }
        if let Some(text) = text(&given.value) {
            let is_bound = |word: &str| self.scope.binds(word);
            self.errors.at(text, quantity::rust_expected(arg.name(), text, &is_bound));
            return None;
        }
        if let Expr::Closure(_) = unwrapped(&given.value) {
            self.errors.at(&given.value, quantity::closure(arg.name()));
            return None;
        }
        flow::check(arg.name(), &given.value, self.errors);
        Some(given.value.clone())
    }

    fn handler(&mut self, arg: Arg, function: &Function) -> Option<Expr> {
        handler::read(self.args.get(arg)?, self.scope, function, self.errors)
    }

    fn one_of(
        &mut self,
        arg: Arg,
        values: &'static [(&'static str, &'static str)],
    ) -> Option<&'static str> {
        let given = self.args.get(arg)?;
        let words = values.iter().map(|(word, _)| *word);
        let word = self.word(given, words.clone())?;
        let variant = values.iter().find(|(known, _)| *known == word).map(|(_, variant)| *variant);
        if variant.is_none() {
            self.unknown_word(given, &word, words);
        }
        variant
    }

    /// One word, quoted or not.
    fn word(
        &mut self,
        given: &Given,
        values: impl Iterator<Item = &'static str>,
    ) -> Option<String> {
        let word = match unwrapped(&given.value) {
            Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
            value => text(value).map(LitStr::value),
        };
        let values: Vec<&str> = values.collect();
        let no_word = Some(&given.value).filter(|_| given.arg == Arg::OnError);
        if let (None, Some(message)) = (&word, no_word.and_then(handler::is_no_word)) {
            self.errors.at(&given.value, message);
            return None;
        }
        if word.is_none() {
            // `LimitAlgorithm.FIXED_WINDOW`, `Algo::FixedWindow`, `true`.
            let whole = close_line(&pieces(given.value.to_token_stream()));
            let words =
                [last_word(&given.value), Some(whole).filter(|word| !word.starts_with('!'))];
            let near = words
                .into_iter()
                .flatten()
                .find_map(|word| meant_by(given.arg, &word, values.iter().copied()));
            let message = match near {
                Some(near) => one_word_like(&given.name, near),
                None => not_one_word(&given.name, listed(values.into_iter(), "and")),
            };
            self.errors.at(&given.value, message);
        }
        word
    }

    fn unknown_word(
        &mut self,
        given: &Given,
        word: &str,
        values: impl Iterator<Item = &'static str> + Clone,
    ) {
        let instead = words::value(given.arg, word).filter(|(_, instead)| !instead.is_empty());
        let near = meant_by(given.arg, word, values.clone());
        let values = listed(values, "and");
        let message = match (instead, near) {
            (Some((_, instead)), _) => unknown_word_instead(&given.name, word, instead),
            (None, Some(near)) => unknown_word_like(&given.name, word, near, values),
            (None, None) => unknown_word(&given.name, word, values),
        };
        self.errors.at(&given.value, message);
    }
}

/// A rule that stands on the function twice would be charged twice, and two that differ could not
/// be told apart by one name.
fn distinct(rules: &[(&Args, Rule)], new: &Rule, args: &Args, errors: &mut Errors) {
    let name = |rule: &Rule| {
        (rule.name.as_ref().map(LitStr::value), rule.service.as_ref().map(LitStr::value))
    };
    let key = |args: &Args| args.get(Arg::Key).map(|key| squeezed(key.value.to_token_stream()));
    for (old_args, old) in rules.iter().filter(|(_, old)| name(old) == name(new)) {
        let (same_numbers, same_key) =
            (old.numbers_text() == new.numbers_text(), key(old_args) == key(args));
        let error = match &new.name {
            _ if same_numbers && same_key => args.error(same_rule()),
            Some(name) if !same_numbers => error_at(name, same_name(name.value())),
            None if same_numbers => args.error(same_default_name()),
            // One budget for two keys (from, to), or two rules with two default names.
            _ => continue,
        };
        errors.push(error);
        return;
    }
}

/// The path of the facade.
fn krate(args: &Args, errors: &mut Errors) -> Path {
    let given = args.get(Arg::Crate).map(|given| &given.value);
    match given.map(unwrapped) {
        None => krate::path(),
        Some(Expr::Path(path)) if path.qself.is_none() => path.path.clone(),
        Some(other) => {
            errors.at(other, not_a_path());
            krate::path()
        }
    }
}

/// Tokens without the blanks between them, which differ from compiler to compiler.
fn squeezed(tokens: TokenStream) -> String {
    let mut text = String::new();
    let mut after_word = false;
    for token in tokens {
        let is_word = matches!(token, TokenTree::Ident(_) | TokenTree::Literal(_));
        if is_word && after_word {
            text.push(' ');
        }
        after_word = is_word;
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                    proc_macro2::Delimiter::Brace => ("{", "}"),
                    proc_macro2::Delimiter::Bracket => ("[", "]"),
                    proc_macro2::Delimiter::None => ("", ""),
                };
                text.push_str(open);
                text.push_str(&squeezed(group.stream()));
                text.push_str(close);
            }
            other => text.push_str(&other.to_string()),
        }
    }
    text
}

/// `SMS_NAME`, as constants are written.
fn is_constant(name: &Ident) -> bool {
    let name = name.to_string();
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}
