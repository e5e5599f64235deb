//! What the arguments mean together. Whatever passes here can be expanded.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Expr, Lit, LitStr, Path, Type};

use crate::args::{Args, Given};
use crate::error::{Errors, error_at};
use crate::expand;
use crate::flow;
use crate::function::{Function, Scope};
use crate::key;
use crate::message::messages;
use crate::quantity::{self, Known, MAX_LOG, Number, unwrapped};
use crate::symbol::{Algo, Arg, FIELDS, MODES, ON_ERRORS, listed, nearest};

messages! {
    not_one_word(arg, values) = "`{arg}` takes one of {values}";
    unknown_word(arg, word, values) = "`{arg}` cannot be `{word}`: there are {values}";
    unknown_word_like(arg, word, near, values) =
        "`{arg}` cannot be `{word}`, did you mean `{near}`? there are {values}";
    missing(algo, numbers) = "`{algo}` needs {numbers}";
    missing_by_default(algo, numbers) = "`{algo}`, the default `algo`, needs {numbers}";
    not_taken(algo, arg, numbers) = "`{algo}` does not take `{arg}`: it takes {numbers}";
    not_taken_by_default(algo, arg, other, others) =
        "`{algo}`, the default `algo`, does not take `{arg}`: write `algo = {other}`{others}";
    cost_above(cost, arg, limit) =
        "a cost of {cost} is more than the `{arg}` of {limit}: no call would ever pass";
    not_text(arg) = "`{arg}` takes a text in quotes";
    no_name(arg) = "`{arg}` is empty: write one, or leave it out";
    long_name(arg) = "`{arg}` can be 128 bytes at most";
    not_a_path() = "`crate` takes the path of the crate, like `crate = ::my_limits`";
    not_a_handler(arg) = "a closure in `{arg}` takes one argument, the error: write `|error| ..`";
    wait_without_line() =
        "`wait` waits in the line of a leaky bucket, and no rule here has one: \
         write `algo = leaky_bucket`, or remove `wait`";
    later(arg) = "`{arg}` does not exist yet: remove it";
    const_fn() = "a `const fn` cannot be limited, because a limit needs a clock: remove `const`";
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
    /// Compiled to a `Key`.
    pub(crate) group: Option<TokenStream>,
    pub(crate) wait: Option<Number>,
    pub(crate) on_limited: Option<Expr>,
    pub(crate) on_unavailable: Option<Expr>,
}

/// One rule.
pub(crate) struct Rule {
    pub(crate) name: Option<LitStr>,
    pub(crate) service: Option<LitStr>,
    pub(crate) algo: Algo,
    /// In the order of [`Algo::takes`].
    pub(crate) numbers: Vec<(Arg, Number)>,
    /// Compiled to a `Key`.
    pub(crate) key: Option<TokenStream>,
    pub(crate) cost: Option<Number>,
    pub(crate) when: Option<Expr>,
    /// A variant of the runtime's `Mode`.
    pub(crate) mode: Option<&'static str>,
    /// A variant of the runtime's `OnError`.
    pub(crate) on_error: Option<&'static str>,
    pub(crate) hides_fields: bool,
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
            distinct(&rules, &rule, args, reader.errors);
            rules.push((args, rule));
        }
    }
    let rules = rules.into_iter().map(|(_, rule)| rule).collect();
    let mut reader = Reader { args: stack.first()?, scope: &scope, krate: &krate, errors };
    let limits = reader.limits(rules, function);
    (errors.len() == before).then_some(limits)
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
        if let (Some(given), false, true) = (wait, has_line, self.errors.is_empty()) {
            self.errors.at(&given.name, wait_without_line());
        }
        let on_limited = self.handler(Arg::OnLimited);
        let on_unavailable = self.handler(Arg::OnUnavailable);
        if on_limited.is_none() {
            self.can_refuse(function);
        }
        Limits {
            krate: self.krate.clone(),
            krate_is_written: self.args.get(Arg::Crate).is_some(),
            rules,
            limiter: self.expression(Arg::Limiter),
            group: self.key(Arg::Group),
            wait: wait.and_then(|given| self.number(given, quantity::Quantity::Duration)),
            on_limited,
            on_unavailable,
        }
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
            hides_fields: self.one_of(Arg::Fields, FIELDS) == Some("hidden"),
        };
        (self.errors.len() == before).then_some(rule)
    }

    /// The algorithm; `None` when there is no telling.
    fn algo(&mut self) -> Option<Algo> {
        let Some(given) = self.args.get(Arg::Algo) else { return Some(Algo::TokenBucket) };
        let word = self.word(given, Algo::names())?;
        let algo = Algo::find(&word);
        if algo.is_none() {
            let near = Algo::meant_by(&word);
            self.unknown_word(given, &word, near, Algo::names());
        }
        algo
    }

    /// The numbers of the algorithm: all that it needs, none that it does not take.
    fn numbers(&mut self, algo: Algo) -> Vec<(Arg, Number)> {
        let written = self.args.get(Arg::Algo);
        let foreign: Vec<&Given> = self
            .args
            .iter()
            .filter(|given| given.arg.quantity().is_some() && !algo.takes().contains(&given.arg))
            .collect();
        if let (None, Some(first)) = (written, foreign.first()) {
            // One mistake, the algorithm that was not written, and not one for each number.
            let mut taking = Algo::taking(first.arg);
            let other = taking.next().unwrap_or_default();
            let others: Vec<String> = taking.map(|algo| format!(" or `{algo}`")).collect();
            let others = others.concat();
            let message = not_taken_by_default(algo.name(), &first.name, other, others);
            self.errors.at(&first.name, message);
            return Vec::new();
        }
        let takes = algo.takes().iter().map(|arg| arg.name());
        for given in &foreign {
            let takes = listed(takes.clone(), "and");
            self.errors.at(&given.name, not_taken(algo.name(), &given.name, takes));
        }
        let missing_numbers: Vec<&str> = algo
            .needs()
            .iter()
            .filter(|arg| self.args.get(**arg).is_none() && !self.args.was_misread(**arg))
            .map(|arg| arg.name())
            .collect();
        // What has to go makes room for what is missing, and says what that is.
        let is_complete = foreign.is_empty() && self.args.was_read();
        if is_complete && !missing_numbers.is_empty() {
            let numbers = listed(missing_numbers.into_iter(), "and");
            let error = match written {
                Some(given) => error_at(&given.value, missing(algo.name(), numbers)),
                None => self.args.error(missing_by_default(algo.name(), numbers)),
            };
            self.errors.push(error);
        }
        algo.takes().iter().filter_map(|arg| Some((*arg, self.number_of(algo, *arg)?))).collect()
    }

    fn number_of(&mut self, algo: Algo, arg: Arg) -> Option<Number> {
        let given = self.args.get(arg)?;
        let number = self.number(given, arg.quantity()?)?;
        match (algo, arg, &number) {
            (Algo::SlidingLog, Arg::Limit, Number::Known(Known::Count(limit)))
                if *limit > MAX_LOG =>
            {
                self.errors.at(&given.value, quantity::too_large_log());
                None
            }
            _ => Some(number),
        }
    }

    fn number(&mut self, given: &'a Given, quantity: quantity::Quantity) -> Option<Number> {
        let is_bound = |word: &str| self.scope.names.iter().any(|name| name.ident == word);
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
        let cost = self.checked(given, quantity::read_cost(&given.value))?;
        if let Number::Known(Known::Count(cost)) = cost {
            for (arg, number) in numbers {
                let counts = matches!(arg, Arg::Capacity | Arg::Limit);
                match number {
                    Number::Known(Known::Count(limit)) if counts && cost > *limit => {
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
            self.errors.at(&given.value, not_text(&given.name));
            return None;
        };
        match name.value().len() {
            0 => self.errors.at(name, no_name(arg.name())),
            1..=MAX_NAME => {}
            _ => self.errors.at(name, long_name(arg.name())),
        }
        Some(name.clone())
    }

    /// A key: a text is the key language, anything else is Rust.
    fn key(&mut self, arg: Arg) -> Option<TokenStream> {
        let given = self.args.get(arg)?;
        flow::check(arg.name(), &given.value, self.errors);
        match text(&given.value) {
            Some(literal) => {
                let secret = expand::secret();
                key::compile(literal, self.scope, self.krate, &secret, self.errors)
            }
            None => key::compile_rust(&given.value, self.krate, self.errors),
        }
    }

    /// An expression that is evaluated before the body and does not leave the function.
    fn expression(&mut self, arg: Arg) -> Option<Expr> {
        let given = self.args.get(arg)?;
        flow::check(arg.name(), &given.value, self.errors);
        Some(given.value.clone())
    }

    /// What is returned instead of the body's value: it may do whatever the body may.
    fn handler(&mut self, arg: Arg) -> Option<Expr> {
        let given = self.args.get(arg)?;
        match unwrapped(&given.value) {
            Expr::Closure(closure) if closure.inputs.len() != 1 => {
                let (begin, end) = (&closure.inputs_begin, &closure.inputs_end);
                let parameters = &closure.inputs;
                self.errors.at(quote!(#begin #parameters #end), not_a_handler(arg.name()));
                None
            }
            _ => Some(given.value.clone()),
        }
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
            let near = nearest(&word.to_lowercase(), words.clone());
            self.unknown_word(given, &word, near, words);
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
        if word.is_none() {
            self.errors.at(&given.value, not_one_word(&given.name, listed(values, "and")));
        }
        word
    }

    fn unknown_word(
        &mut self,
        given: &Given,
        word: &str,
        near: Option<&str>,
        values: impl Iterator<Item = &'static str>,
    ) {
        let values = listed(values, "and");
        let message = match near {
            Some(near) => unknown_word_like(&given.name, word, near, values),
            None => unknown_word(&given.name, word, values),
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
        None => syn::parse_quote!(::ratelimit_kit),
        Some(Expr::Path(path)) if path.qself.is_none() => path.path.clone(),
        Some(other) => {
            errors.at(other, not_a_path());
            syn::parse_quote!(::ratelimit_kit)
        }
    }
}

/// A string literal.
fn text(value: &Expr) -> Option<&LitStr> {
    match unwrapped(value) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text),
            _ => None,
        },
        _ => None,
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
