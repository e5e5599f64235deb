//! Names to parameters: what a key means on this function, and what of it has no meaning.

use std::ops::Range;

use proc_macro2::Ident;
use syn::ext::IdentExt;

use super::ast::{self, Expr, ExprKind, FieldName};
use super::placeholder::{Names, Placeholder};
use super::{CONTEXT, Problem, foreign, problem, translate};
use crate::function::{Name, Scope};
use crate::message::{Message, messages};
use crate::symbol;
use crate::words::snake_case;

messages! {
    unknown_name(name, there) = "unknown argument `{name}` in the key; arguments: {there}";
    unknown_name_instead(name, there, instead) =
        "unknown argument `{name}` in the key; arguments: {there}; {instead}";
    unknown_name_alone(name, there) =
        "unknown argument `{name}` in the key; arguments: {there}; text is written `'{name}'`, and \
         the rule's name is `name = \"{name}\"`";
    unknown_name_suggestion(name, suggestion, there) =
        "unknown argument `{name}` in the key: did you mean `{suggestion}`? arguments: {there}";
    numbered_name(name, index) =
        "unknown argument `{name}` in the key: the argument of that number is `args[{index}]`";
    no_self() = "there is no `self` for the key: the function is not a method";
    no_such_argument(index, there) = "there is no `args[{index}]` for the key: {there}";
    argument_is_pattern(index, names) =
        "`args[{index}]` is taken apart by its pattern: use a name in it instead: {names}";
    argument_has_no_name(index) =
        "`args[{index}]` has no name: write a name instead of `_` in the function";
    arguments_not_counted(index, name) =
        "`args[{index}]` cannot be counted past {name}, which may be absent: use the argument's name";
    argument_number_missing() = "`args` needs the number of an argument, as in `args[0]`";
    args_is_a_name(index) =
        "`args[{index}]` may mean the argument of that number or the argument called `args`: \
         rename that, or write the key in Rust, without the quotes around it";
    unknown_function(name, there) =
        "unknown function `{name}` in the key; functions: {there}; one of yours stands in a key in \
         Rust, as in `key = {name}(phone)`, without the quotes";
    unknown_function_instead(name, instead) = "unknown function `{name}` in the key: {instead}";
    unknown_function_suggestion(name, suggestion, there) =
        "unknown function `{name}` in the key: did you mean `{suggestion}`? functions: {there}";
    one_argument(name) = "`{name}` takes one value: `{name}(phone)`";
    prefix_arguments() =
        "`prefix` takes an address and how many of its bits count, of IPv4 and perhaps of IPv6: \
         `prefix(ip, 24)`, `prefix(ip, 24, 48)`";
    prefix_bits() = "`prefix` takes a number of bits from 1 to 32: `prefix(ip, 24)`";
    prefix_bits_v6() = "`prefix` takes 1 to 128 bits of an IPv6 address: `prefix(ip, 24, 48)`";
    function_of_join(name) =
        "`{name}` takes one value, not several joined by `+`: write `{name}(a) + {name}(b)`";
    default_of_join() =
        "`?:` gives a default to one value, not to several joined by `+`: put it after the value \
         that may be missing";
    join_as_default() =
        "the default after `?:` is one value, not several joined by `+`";
    default_missing(path, default) =
        "`{path}` may be missing: write what stands for it then, as in `{path} ?: {default}`";
    empty_default() =
        "an empty default is no key: write what stands for the missing value, as in `?: 'anonymous'`";
    unknown_context(name, there) = "unknown context value `@{name}`; there are {there}";
    unknown_context_instead(name, instead) = "unknown context value `@{name}`: {instead}";
    unknown_context_suggestion(name, suggestion, there) =
        "unknown context value `@{name}`: did you mean `@{suggestion}`? there are {there}";
    context_has_no_index(name) =
        "`@{name}` is one value and takes no index: only `@header` does, as in `@header['x-api-key']`";
    no_header_name() =
        "this is no name of a header: letters, digits and `-` make one, as in `@header['x-api-key']`";
    placeholder_in_text(name, instead) =
        "`{name}` in quotes is text, so all callers would share one budget: \
         names stand outside, as in `{instead}`; one budget for all needs no `key`";
    coarse_text(name, instead) =
        "`{name}` in quotes is text, so callers would not be told apart: names stand outside, as in \
         `{instead}`";
    marked_text(name, instead) =
        "`{name}` in quotes is text, the same in every key: names stand outside, as in `{instead}`, \
         and a label has no sign";
    named_default(text, instead) =
        "`{text}` is a text, so one budget for all who need the default: a name stands without \
         quotes, as in `?: {instead}`";
    dead_default(value) =
        "`{value}` is always there, so what follows its `?:` is never used: put it last";
    forged_header(name) =
        "whoever calls writes `{name}`, and has a new budget with each invented one: the client's \
         address is `@ip`";
    constant(value, name) =
        "`{value}` is the same for all calls, so all callers would share one budget: name an \
         argument, as in `{name}`, or write a text, as in `'all'`";
    placeholder_in_group(name, instead) =
        "`{name}` in quotes is text, so every call would be in one slot: names stand outside, as in \
         `{instead}`; one slot for all is `'all'`";
    empty_text() =
        "the key is the empty text: name an argument, or leave `key` out for one budget for all \
         callers";
}

/// A key on a function.
pub(super) struct Key {
    pub(super) parts: Vec<Vec<Piece>>,
    /// `hash` is used: the key needs the limiter's secret.
    pub(super) uses_secret: bool,
}

pub(super) enum Piece {
    /// Text of the source, whose `:` separate.
    Text(String),
    Value(Value),
}

impl Piece {
    /// Whether it can differ from call to call.
    fn differs(&self) -> bool {
        matches!(self, Self::Value(value) if value.differs())
    }

    /// Whether it can differ from caller to caller.
    fn tells_apart(&self) -> bool {
        matches!(self, Self::Value(value) if value.tells_apart())
    }
}

pub(super) enum Value {
    Constant(String),
    Place(Place),
    Context(Context),
    Call(Function, Box<Value>),
    /// The first of these that is there; the last one always is.
    First(Vec<Value>),
}

impl Value {
    fn differs(&self) -> bool {
        match self {
            Self::Constant(_) => false,
            Self::Place(_) | Self::Context(_) => true,
            Self::Call(_, value) => value.differs(),
            Self::First(values) => values.iter().any(Self::differs),
        }
    }

    fn tells_apart(&self) -> bool {
        match self {
            Self::Constant(_) => false,
            Self::Place(_) => true,
            Self::Context(context) => {
                !matches!(context, Context::Path | Context::Route | Context::Method)
            }
            Self::Call(_, value) => value.tells_apart(),
            Self::First(values) => values.iter().any(Self::tells_apart),
        }
    }
}

/// A parameter or a field of it.
pub(super) struct Place {
    /// With the parameter's place and hygiene.
    pub(super) root: Ident,
    pub(super) fields: Vec<FieldName>,
    /// The fields behind each `?.`.
    pub(super) behind: Vec<Vec<FieldName>>,
}

/// What a request's context has.
pub(super) enum Context {
    Ip,
    Path,
    Route,
    Method,
    User,
    Tenant,
    Device,
    /// In lower case.
    Header(String),
}

impl Context {
    const fn may_be_absent(&self) -> bool {
        matches!(self, Self::User | Self::Tenant | Self::Device | Self::Header(_))
    }
}

#[derive(Clone, Copy)]
pub(super) enum Function {
    Lower,
    Trim,
    Digits,
    Fold,
    Hash,
    Prefix { v4_bits: u8, v6_bits: u8 },
}

/// One customer of a provider has at least a /64 to take addresses from.
const V6_BITS: u8 = 64;

/// The functions by name.
pub(super) const FUNCTIONS: [&str; 6] = ["lower", "trim", "digits", "fold", "hash", "prefix"];

/// Resolves `key`, or says everything that is wrong with it.
pub(super) fn resolve(
    arg: &str,
    source: &str,
    key: &ast::Key,
    scope: &Scope<'_>,
) -> Result<Key, Vec<Problem>> {
    let mut resolver = Resolver::new(arg, source, scope);
    let parts: Vec<Vec<Piece>> = key.parts.iter().map(|part| resolver.part(part)).collect();
    let differs = parts.iter().flatten().any(Piece::differs);
    let tells_apart = parts.iter().flatten().any(Piece::tells_apart);
    let marked = std::mem::take(&mut resolver.marked).into_iter().next();
    // The first says what all of the key is.
    if let Some((text, at, name)) = marked.filter(|_| resolver.problems.is_empty()) {
        let message = match (tells_apart, differs) {
            (true, _) => marked_text,
            (false, true) => coarse_text,
            (false, false) => placeholder_in_text,
        };
        resolver.report_placeholder(&text, &at, &name, message);
    }
    if resolver.problems.is_empty() && !tells_apart {
        resolver.check_constant(differs);
    }
    if resolver.problems.is_empty() && parts.iter().all(Vec::is_empty) {
        resolver.problems.push(problem(0..source.len(), empty_text()));
    }
    if resolver.problems.is_empty() {
        return Ok(Key { parts, uses_secret: resolver.uses_secret });
    }
    let mut problems = resolver.problems;
    // A key of another language is one mistake, however many names it has.
    if resolver.foreign == problems.len()
        && let Some(key) = super::meant(source, scope)
    {
        problems.truncate(1);
        problems = problems.into_iter().map(|problem| super::with_key(problem, &key)).collect();
    }
    Err(problems)
}

/// Whether a key has a meaning, and differs from call to call.
pub(super) fn differs(source: &str, key: &ast::Key, scope: &Scope<'_>) -> bool {
    let mut resolver = Resolver::new("key", source, scope);
    let parts: Vec<Vec<Piece>> = key.parts.iter().map(|part| resolver.part(part)).collect();
    let mut pieces = parts.iter().flatten();
    resolver.problems.is_empty()
        && resolver.marked.is_empty()
        && (pieces.clone().any(Piece::tells_apart)
            || pieces.any(Piece::differs) && resolver.named_text(true).is_none())
}

struct Resolver<'s> {
    /// The argument that the key is the value of.
    arg: &'s str,
    source: &'s str,
    scope: &'s Scope<'s>,
    problems: Vec<Problem>,
    /// Where texts stand, with their quotes.
    texts: Vec<Range<usize>>,
    /// The first name with a sign in each text: the place of the text, and its own.
    marked: Vec<(Range<usize>, Range<usize>, String)>,
    /// The names after `@`.
    requested: Vec<String>,
    /// How many names and functions are unknown.
    foreign: usize,
    uses_secret: bool,
}

impl<'s> Resolver<'s> {
    const fn new(arg: &'s str, source: &'s str, scope: &'s Scope<'s>) -> Self {
        Self {
            arg,
            source,
            scope,
            problems: Vec::new(),
            texts: Vec::new(),
            marked: Vec::new(),
            requested: Vec::new(),
            foreign: 0,
            uses_secret: false,
        }
    }

    fn report(&mut self, at: &Range<usize>, message: Message) {
        self.problems.push(problem(at.clone(), message));
    }

    /// One entry of the list.
    fn part(&mut self, expr: &Expr) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.pieces(expr, &mut pieces);
        pieces
    }

    fn pieces(&mut self, expr: &Expr, pieces: &mut Vec<Piece>) {
        match &expr.kind {
            ExprKind::Join(operands) => {
                for operand in operands {
                    self.pieces(operand, pieces);
                }
            }
            ExprKind::Text(text) => {
                self.check_text(&expr.at);
                if !text.is_empty() {
                    pieces.push(Piece::Text(text.clone()));
                }
            }
            _ => pieces.extend(self.value(expr, Absent::Refused).map(Piece::Value)),
        }
    }

    /// `None` when something is wrong with it, which is then reported.
    fn value(&mut self, expr: &Expr, absent: Absent) -> Option<Value> {
        match &expr.kind {
            ExprKind::Text(text) => {
                self.check_text(&expr.at);
                Some(Value::Constant(text.clone()))
            }
            ExprKind::Constant(text) => Some(Value::Constant(text.clone())),
            ExprKind::Path(path) => self.place(path, &expr.at, absent).map(Value::Place),
            ExprKind::Call(call) => self.call(call, absent),
            ExprKind::First(values) => self.first(values),
            ExprKind::Context(context) => {
                let value = self.context(context, &expr.at)?;
                if absent == Absent::Refused && value.may_be_absent() {
                    let written = self.source.get(expr.at.clone()).unwrap_or_default();
                    self.report(&expr.at, default_of_one_missing(written));
                    return None;
                }
                Some(Value::Context(value))
            }
            // Where it is allowed, `pieces` has taken it apart.
            ExprKind::Join(_) => None,
        }
    }

    fn context(&mut self, context: &ast::Context, at: &Range<usize>) -> Option<Context> {
        let ast::Context { name, index } = context;
        self.requested.push(name.clone());
        let value = match name.as_str() {
            "ip" => Context::Ip,
            "path" => Context::Path,
            "route" => Context::Route,
            "method" => Context::Method,
            "user" => Context::User,
            "tenant" => Context::Tenant,
            "device" => Context::Device,
            "header" => {
                let (header, at) = index.as_ref()?;
                if header.is_empty() || !header.chars().all(is_in_header_name) {
                    self.report(at, no_header_name());
                    return None;
                }
                let header = header.to_lowercase();
                if FORGED.contains(&header.as_str()) {
                    self.report(at, forged_header(header));
                    return None;
                }
                return Some(Context::Header(header));
            }
            name => {
                let there: Vec<String> = CONTEXT.iter().map(|name| format!("`@{name}`")).collect();
                let there = there.join(", ");
                let near = symbol::nearest(&name.to_lowercase(), CONTEXT.into_iter());
                let message = match (near, foreign::name(name, None)) {
                    _ if self.find(name).is_some() => {
                        unknown_context_instead(name, foreign::argument(name))
                    }
                    (Some(suggestion), _) => unknown_context_suggestion(name, suggestion, there),
                    (None, Some(instead)) => unknown_context_instead(name, instead),
                    (None, None) => unknown_context(name, there),
                };
                self.foreign += 1;
                self.report(at, message);
                return None;
            }
        };
        if let Some((_, at)) = index {
            self.report(at, context_has_no_index(name));
            return None;
        }
        Some(value)
    }

    fn first(&mut self, values: &[Expr]) -> Option<Value> {
        let (last, before) = values.split_last()?;
        let mut resolved = Vec::new();
        for value in before {
            if let ExprKind::Join(_) = value.kind {
                self.report(&value.at, default_of_join());
                continue;
            }
            let problems = self.problems.len();
            let before = self.value(value, Absent::Allowed);
            if self.problems.len() == problems
                && let Some(Value::Constant(text)) = &before
                && !text.is_empty()
            {
                self.report(&value.at, dead_default(self.written(&value.at)));
                return None;
            }
            resolved.extend(before);
        }
        match &last.kind {
            ExprKind::Join(_) => self.report(&last.at, join_as_default()),
            ExprKind::Text(text) if text.is_empty() => self.report(&last.at, empty_default()),
            ExprKind::Text(text) if self.names(|names| names.default(text)).is_some() => {
                let name = self.names(|names| names.default(text)).unwrap_or_default();
                let after = before.last().map(|value| self.written(&value.at)).unwrap_or_default();
                // `@user ?: 'user'`: not the same again.
                let name = name.strip_prefix(&format!("{after} ?: ")).unwrap_or(&name).to_owned();
                self.report(&last.at, named_default(self.written(&last.at), name));
            }
            _ => resolved.extend(self.value(last, Absent::Refused)),
        }
        (resolved.len() == values.len()).then_some(Value::First(resolved))
    }

    fn call(&mut self, call: &ast::Call, absent: Absent) -> Option<Value> {
        let function = self.function(call);
        // Also when the function is wrong: another mistake in its arguments is another error.
        let argument = match call.arguments.first() {
            Some(argument) if matches!(argument.kind, ExprKind::Join(_)) => {
                if function.is_some() {
                    self.report(&argument.at, function_of_join(&call.name));
                }
                None
            }
            Some(argument) => self.value(argument, absent),
            None => None,
        };
        Some(Value::Call(function?, Box::new(argument?)))
    }

    fn function(&mut self, call: &ast::Call) -> Option<Function> {
        let function = match call.name.as_str() {
            "lower" => Function::Lower,
            "trim" => Function::Trim,
            "digits" => Function::Digits,
            "fold" => Function::Fold,
            "hash" => {
                self.uses_secret = true;
                Function::Hash
            }
            "prefix" => return self.prefix(call),
            name => {
                let there = listed(FUNCTIONS.into_iter());
                let near = symbol::nearest(&snake_case(name), FUNCTIONS.into_iter());
                let message = match (near, foreign::function(name)) {
                    (Some(suggestion), _) => unknown_function_suggestion(name, suggestion, there),
                    (None, Some(instead)) => unknown_function_instead(name, instead),
                    (None, None) => unknown_function(name, there),
                };
                self.foreign += 1;
                self.report(&call.name_at, message);
                return None;
            }
        };
        if call.arguments.len() != 1 {
            self.report(&call.name_at, one_argument(&call.name));
            return None;
        }
        Some(function)
    }

    fn prefix(&mut self, call: &ast::Call) -> Option<Function> {
        let (v4, v6) = match call.arguments.as_slice() {
            [_, v4] => (v4, None),
            [_, v4, v6] => (v4, Some(v6)),
            _ => {
                self.report(&call.name_at, prefix_arguments());
                return None;
            }
        };
        let v4_bits = self.bits(v4, 32, prefix_bits);
        let v6_bits = v6.map_or(Some(V6_BITS), |v6| self.bits(v6, 128, prefix_bits_v6));
        Some(Function::Prefix { v4_bits: v4_bits?, v6_bits: v6_bits? })
    }

    /// A number of bits of an address.
    fn bits(&mut self, bits: &Expr, most: u8, message: fn() -> Message) -> Option<u8> {
        if let ExprKind::Constant(number) = &bits.kind
            && let Ok(bits) = number.parse()
            && (1..=most).contains(&bits)
        {
            return Some(bits);
        }
        self.report(&bits.at, message());
        None
    }

    fn place(&mut self, path: &ast::Path, at: &Range<usize>, absent: Absent) -> Option<Place> {
        let root = match &path.root {
            ast::Root::Name(name) => self.name(name, &path.root_at),
            ast::Root::Argument(index) => self.argument(*index, &path.root_at),
        };
        let mut place = Place { root: root?, fields: Vec::new(), behind: Vec::new() };
        for field in &path.fields {
            if field.optional {
                place.behind.push(Vec::new());
            }
            place.behind.last_mut().unwrap_or(&mut place.fields).push(field.name.clone());
        }
        if absent == Absent::Refused && !place.behind.is_empty() {
            let written = self.source.get(at.clone()).unwrap_or_default();
            self.report(at, default_of_one_missing(written));
            return None;
        }
        Some(place)
    }

    fn name(&mut self, name: &str, at: &Range<usize>) -> Option<Ident> {
        if name == "self" {
            let Some(receiver) = self.scope.receiver else {
                self.report(at, no_self());
                return None;
            };
            return Some(Ident::new("self", receiver.span));
        }
        if let Some(ident) = self.find(name) {
            return Some(ident.clone());
        }
        let there = self.names_there();
        let names: Vec<String> = self.scope.names.iter().map(as_written).collect();
        let field = self.source.get(at.end..).and_then(|rest| rest.strip_prefix('.'));
        let field =
            field.and_then(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
        let snake = snake_case(name);
        let near = || super::near(name, &names);
        let message = if name == "args" {
            argument_number_missing()
        } else if let Some(index) = numbered(name) {
            numbered_name(name, index)
        } else if let Some(suggestion) = near() {
            unknown_name_suggestion(name, suggestion, there)
        } else if let Some(instead) = foreign::name(name, field) {
            unknown_name_instead(name, there, instead)
        } else if is_constant(name) {
            unknown_name_instead(name, there, constant_instead(name, names.first()))
        } else if let Some(owner) = self.owner().filter(|_| !["_", "Self"].contains(&name)) {
            let instead = format!("a field is `{owner}.{name}`, and text is written `'{name}'`");
            unknown_name_instead(name, there, instead)
        } else if self.source.trim().trim_start_matches('#') == name {
            unknown_name_alone(name, there)
        } else {
            unknown_name(name, there)
        };
        let is_slip = near().is_some_and(|near| !super::is_id_of(near, &snake));
        self.foreign += usize::from(!is_slip);
        self.report(at, message);
        None
    }

    /// What a name alone may be a field of: `self`, or the one thing that an extractor holds.
    fn owner(&self) -> Option<String> {
        if self.scope.receiver.is_some() {
            return Some("self".to_owned());
        }
        let is_one = self.scope.names.len() == 1;
        let holds = |name: &&Name<'_>| {
            let param = self.scope.params.get(name.param);
            param.is_some_and(|param| {
                !matches!(param.pat, syn::Pat::Ident(_)) && (is_one || is_body(param.pat, param.ty))
            })
        };
        self.scope.names.iter().find(holds).map(as_written)
    }

    fn find(&self, name: &str) -> Option<&Ident> {
        let mut names = self.scope.names.iter().map(|name| name.ident);
        names.find(|ident| ident.unraw() == name)
    }

    /// `args[index]`.
    fn argument(&mut self, index: usize, at: &Range<usize>) -> Option<Ident> {
        let scope = self.scope;
        let message = if self.find("args").is_some() {
            args_is_a_name(index)
        } else if let Some(param) = scope.params.get(index) {
            let before = scope.params.iter().take(index + 1).position(|param| param.maybe_absent);
            let names_of = |param: usize| {
                let names: Vec<String> =
                    scope.names.iter().filter(|name| name.param == param).map(as_written).collect();
                listed(names.iter().map(String::as_str))
            };
            match (before, &param.pat, names_of(index)) {
                (Some(absent), ..) => arguments_not_counted(index, names_of(absent)),
                (None, syn::Pat::Ident(pat), _) => return Some(pat.ident.clone()),
                (None, _, names) if names.is_empty() => argument_has_no_name(index),
                (None, _, names) => argument_is_pattern(index, names),
            }
        } else {
            let there = match scope.params.len() {
                0 => "the function has no arguments".to_owned(),
                1 => "the function has one argument, `args[0]`".to_owned(),
                count => format!(
                    "the function has {count} arguments, `args[0]` to `args[{}]`",
                    count - 1
                ),
            };
            no_such_argument(index, there)
        };
        self.report(at, message);
        None
    }

    /// What a key may name, for messages.
    fn names_there(&self) -> String {
        let receiver = self.scope.receiver.map(|_| "self".to_owned());
        let names: Vec<String> =
            receiver.into_iter().chain(self.scope.names.iter().map(as_written)).collect();
        if names.is_empty() { "none".to_owned() } else { listed(names.iter().map(String::as_str)) }
    }

    fn written(&self, at: &Range<usize>) -> String {
        self.source.get(at.clone()).unwrap_or_default().to_owned()
    }

    /// Looks through a text for the names that there are.
    fn names<T>(&self, look: impl FnOnce(Names<'_>) -> T) -> T {
        let arguments: Vec<String> = self.scope.names.iter().map(as_written).collect();
        look(Names { arguments: &arguments, context: &CONTEXT })
    }

    /// A name in a text with a sign in front or in braces is a mistake that nobody would notice: a
    /// template would be one key for everybody.
    fn check_text(&mut self, at: &Range<usize>) {
        // Without the parentheses around it.
        let written = self.source.get(at.clone()).unwrap_or_default();
        let (open, close) = (written.find('\''), written.rfind('\''));
        let at =
            &(at.start + open.unwrap_or(0)..at.start + close.map_or(written.len(), |it| it + 1));
        self.texts.push(at.clone());
        let start = at.start + 1;
        let text = self.source.get(start..at.end.saturating_sub(1)).unwrap_or_default();
        if let Some(Placeholder { at: place, name, .. }) = self.names(|names| names.marked(text)) {
            self.marked.push((at.clone(), start + place.start..start + place.end, name));
        }
    }

    /// Where nothing differs from caller to caller, a text that names something was meant to.
    /// `differs`: something differs from call to call.
    fn check_constant(&mut self, differs: bool) {
        if let Some((text, Placeholder { at, name, .. })) = self.named_text(differs) {
            let start = text.start + 1;
            let message = if differs { coarse_text } else { placeholder_in_text };
            self.report_placeholder(&text, &(start + at.start..start + at.end), &name, message);
        } else if self.texts.is_empty() && !differs {
            let name = self.names(|names| names.arguments.first().cloned());
            let name = name.unwrap_or_else(|| "@ip".to_owned());
            self.report(&(0..self.source.len()), constant(self.source.trim(), name));
        }
    }

    /// The first text that names something: its place, and what in it does.
    fn named_text(&self, differs: bool) -> Option<(Range<usize>, Placeholder)> {
        let function = snake_case(&self.scope.function.unraw().to_string());
        let others: Vec<&str> = CONTEXT
            .into_iter()
            .filter(|name| !self.requested.iter().any(|requested| requested == name))
            .collect();
        self.texts.iter().find_map(|at| {
            let text = self.source.get(at.start + 1..at.end.saturating_sub(1))?;
            let found = self.names(|names| {
                let names = Names { context: &others, ..names };
                if differs {
                    let known = names.placeholder(text).filter(|found| found.is_known);
                    return known.or_else(|| names.word(text)).or_else(|| names.who_alone(text));
                }
                let found = names.placeholder(text).or_else(|| names.word(text));
                if found.is_some() || snake_case(text) == function {
                    return found;
                }
                names.word_within(text).or_else(|| names.who(text))
            });
            let as_key = || {
                let key = if differs { None } else { self.as_key(text) };
                key.map(|name| Placeholder { at: 0..text.len(), name, is_known: true })
            };
            found.or_else(as_key).map(|found| (at.clone(), found))
        })
    }

    /// The key that stands in a text.
    fn as_key(&self, text: &str) -> Option<String> {
        let keys = self.names(|names| translate::of_text(&text.replace("''", "'"), &names));
        keys.into_iter().find(|key| super::is_key(key, self.scope))
    }

    /// `text` is the place of a text, and `at` that of a placeholder in it, for which `name` is
    /// to be written.
    fn report_placeholder(
        &mut self,
        text: &Range<usize>,
        at: &Range<usize>,
        name: &str,
        message: fn(String, String) -> Message,
    ) {
        let written = self.written(at);
        let inside =
            self.source.get(text.start + 1..text.end.saturating_sub(1)).unwrap_or_default();
        let before = self.source.get(text.start + 1..at.start).unwrap_or_default();
        let whole =
            super::meant(self.source, self.scope).filter(|_| self.source.trim().len() > text.len());
        let key = whole.or_else(|| self.as_key(inside));
        let instead = key.unwrap_or_else(|| joined(before, name));
        let message = if self.arg == "group" { placeholder_in_group } else { message };
        self.report(at, message(written, instead));
    }
}

/// A value behind what stands in front of it in a text, without what other languages need there.
fn joined(before: &str, name: &str) -> String {
    // Another one in front has an error of its own.
    let before = before.rsplit('}').next().unwrap_or_default();
    let before = before.trim_end_matches(['#', '$', '%', '<', '[', '(', '\\', '`', '@']);
    let mut label = before;
    loop {
        let short = label.trim_end_matches(['_', '-', '.', ' ']);
        let start = short.rfind(|c: char| !c.is_alphanumeric()).map_or(0, |at| at + 1);
        let word = short.get(start..).unwrap_or_default();
        // `smsBy`
        let start = word.rfind(char::is_uppercase).map_or(start, |at| start + at);
        let word = short.get(start..).unwrap_or_default().to_lowercase();
        if !AROUND.contains(&word.as_str()) {
            break;
        }
        label = short.get(..start).unwrap_or_default();
    }
    let label = label.strip_suffix("header:").unwrap_or(label).trim_end_matches(['_', '-']);
    // `/users/:id`
    let label =
        if label == ":" || label.ends_with("/:") { label.trim_end_matches(':') } else { label };
    match label {
        "" => name.to_owned(),
        // `sms_phone`
        label if label.len() < before.len() && label.ends_with(char::is_alphanumeric) => {
            format!("'{label}:' + {name}")
        }
        label => format!("'{label}' + {name}"),
    }
}

/// Words in front of one that says who calls.
const AROUND: [&str; 22] = [
    "auth", "by", "context", "ctx", "current", "each", "every", "for", "get", "headers", "key",
    "limit", "my", "of", "per", "req", "request", "self", "smart", "the", "this", "type",
];

/// Whether a type is the extractor of what a request sends: of all arguments, that has fields.
fn is_body(pat: &syn::Pat, ty: &syn::Type) -> bool {
    let (syn::Pat::TupleStruct(pat), syn::Type::Path(path)) = (pat, ty) else { return false };
    if !matches!(pat.elems.first(), Some(syn::Pat::Ident(_))) {
        return false;
    }
    let last = path.path.segments.last();
    last.is_some_and(|last| ["Form", "Json", "Query"].iter().any(|name| last.ident == name))
}

/// Headers that grow with what a caller sends.
const FORGED: [&str; 2] = ["x-forwarded-for", "forwarded"];

/// A name in large letters, as constants have.
fn is_constant(name: &str) -> bool {
    name.len() > 1
        && name.chars().all(|c| !c.is_lowercase())
        && name.starts_with(char::is_uppercase)
}

fn constant_instead(name: &str, argument: Option<&String>) -> String {
    let argument = argument.map_or("phone", String::as_str);
    format!(
        "only arguments stand here, and a constant in a key in Rust, as in `key = [{name}, {argument}]`"
    )
}

/// A word for all who are missing is one budget for them. Of a request more is known.
fn default_of_one_missing(path: &str) -> Message {
    default_missing(path, if path.starts_with('@') { "@ip" } else { "'anonymous'" })
}

/// Whether a value that may be missing is allowed here, because a default follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Absent {
    Allowed,
    Refused,
}

/// A name without `r#`: so a key may write it.
fn as_written(name: &Name<'_>) -> String {
    name.ident.unraw().to_string()
}

/// `` `a`, `b` ``.
fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The characters that RFC 9110 allows in the name of a field.
fn is_in_header_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// Other expression languages call the arguments `p0` and `a0`.
fn numbered(name: &str) -> Option<usize> {
    name.strip_prefix(['p', 'a'])?.parse().ok()
}
