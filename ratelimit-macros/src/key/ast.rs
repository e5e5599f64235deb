//! What the parser makes of a key.

use std::ops::Range;

/// A whole key: the entries of its list, or the one expression that it is.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) parts: Vec<Expr>,
}

#[derive(Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    /// In bytes of the literal's value.
    pub(super) at: Range<usize>,
}

#[derive(Debug)]
pub(super) enum ExprKind {
    /// `'text'`.
    Text(String),
    /// A number, `true` or `false`, as it stands in the key.
    Constant(String),
    /// `req.user?.id`, `#phone`, `self.tenant`, `args[0].id`.
    Path(Path),
    /// `lower(x)`.
    Call(Call),
    /// `a ?: b ?: c`.
    First(Vec<Expr>),
    /// `a + b`.
    Join(Vec<Expr>),
    /// `@ip`, `@header['name']`: the request's context.
    Context(Context),
}

#[derive(Debug)]
pub(super) struct Context {
    pub(super) name: String,
    /// What stands in brackets, and where.
    pub(super) index: Option<(String, Range<usize>)>,
}

#[derive(Debug)]
pub(super) struct Path {
    pub(super) root: Root,
    /// The place of the root.
    pub(super) root_at: Range<usize>,
    pub(super) fields: Vec<Field>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// A parameter, `self`, or nothing that exists.
    Name(String),
    /// `args[n]`.
    Argument(usize),
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: FieldName,
    /// After `?.`.
    pub(super) optional: bool,
}

#[derive(Clone, Debug)]
pub(super) enum FieldName {
    Named(String),
    Indexed(u32),
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) name_at: Range<usize>,
    pub(super) arguments: Vec<Expr>,
}
