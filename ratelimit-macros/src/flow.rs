//! Keys and numbers are computed inside the function, but they are no place to leave it from: `?`,
//! `return`, `break` or `.await` in one of them would act on the function that is limited.

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Item, Macro};

use crate::error::Errors;
use crate::message::messages;

messages! {
    leaves_function(token, arg) =
        "`{token}` in `{arg}` would act on the function itself: compute the value without it";
    awaits(arg) = "`.await` is not possible in `{arg}`: it is computed before the function runs";
}

/// Reports whatever in the value of the argument `arg` would leave the function or suspend it.
pub(crate) fn check(arg: &str, value: &Expr, errors: &mut Errors) {
    let mut visitor = Visitor { arg, in_loop: 0, errors };
    visitor.visit_expr(value);
}

struct Visitor<'a> {
    arg: &'a str,
    /// How many loops and labelled blocks of the value itself are around: they may be left.
    in_loop: usize,
    errors: &'a mut Errors,
}

impl Visitor<'_> {
    fn leaves(&mut self, span: proc_macro2::Span, token: &str) {
        self.errors.at_span(span, leaves_function(token, self.arg));
    }

    fn inside_loop(&mut self, visit: impl FnOnce(&mut Self)) {
        self.in_loop += 1;
        visit(self);
        self.in_loop -= 1;
    }

    /// Macros hide their expressions from a syntax tree, so their tokens must do.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut after_dot = false;
        for token in tokens {
            let mut is_dot = false;
            match &token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Punct(punct) => match punct.as_char() {
                    '?' => self.leaves(punct.span(), "?"),
                    '.' => is_dot = true,
                    _ => {}
                },
                TokenTree::Ident(ident) if ident == "return" => {
                    self.leaves(ident.span(), "return");
                }
                TokenTree::Ident(ident) if after_dot && ident == "await" => {
                    self.errors.at_span(ident.span(), awaits(self.arg));
                }
                TokenTree::Ident(_) | TokenTree::Literal(_) => {}
            }
            after_dot = is_dot;
        }
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            // What these contain acts on them alone.
            Expr::Closure(_) | Expr::Async(_) => return,
            Expr::Try(inner) => self.leaves(inner.question_token.span(), "?"),
            Expr::Return(inner) => self.leaves(inner.return_token.span(), "return"),
            Expr::Break(inner) if self.in_loop == 0 => {
                self.leaves(inner.break_token.span(), "break");
            }
            Expr::Continue(inner) if self.in_loop == 0 => {
                self.leaves(inner.continue_token.span(), "continue");
            }
            Expr::Yield(inner) => self.leaves(inner.yield_token.span(), "yield"),
            Expr::Await(inner) => self.errors.at_span(inner.await_token.span(), awaits(self.arg)),
            Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => {
                return self.inside_loop(|this| visit::visit_expr(this, expr));
            }
            Expr::Block(block) if block.label.is_some() => {
                return self.inside_loop(|this| visit::visit_expr(this, expr));
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    /// As an expression, and as a statement of a block.
    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.tokens(mac.tokens.clone());
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes(source: &str) -> Vec<String> {
        let mut errors = Errors::new();
        check("key", &syn::parse_str(source).unwrap(), &mut errors);
        let messages = errors.messages();
        let _ = errors.finish();
        messages
    }

    #[test]
    fn what_stays_inside_is_allowed() {
        for source in [
            "format!(\"{:?}\", user)",
            "items.iter().map(|i| { return i.len() }).sum::<usize>()",
            "n.map(|n| Some(n?))",
            "loop { break 5 }",
            "'a: { if x { break 'a 1 } 2 }",
            "{ fn f() -> Option<u8> { return Some(g()?) } f() }",
        ] {
            assert_eq!(mistakes(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn what_leaves_the_function_is_found() {
        for source in [
            "n.parse::<u32>()?",
            "{ if n.is_empty() { return Ok(()) } n }",
            "{ break; }",
            "load(n).await",
            "format!(\"{}\", n.parse::<u32>()?)",
            "format!(\"{}\", { return })",
            "format!(\"{}\", n.await)",
            "{ println!(\"{}\", n.parse::<u32>()?); n }",
            "while n { n? }",
        ] {
            assert_eq!(mistakes(source).len(), 1, "{source}");
        }
    }
}
