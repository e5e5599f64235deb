//! Arithmetic on numbers that are written out: `60 * 24` is right, and `1/15` is 0 in Rust.

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprBinary, ExprLit, Lit, LitFloat, LitInt, UnOp};

use crate::error::error_at;
use crate::message::messages;
use crate::milliseconds::written;
use crate::quantity::{
    Quantity, decimal, fraction, fraction_of_second, literal_int, negative, no_leading_zero,
    rate_text, unwrapped, zero,
};

messages! {
    rate_as_division(division, arg, period) =
        "`{division}` is 0 or 1 in Rust, which drops the rest: write a `Rate`, as in \
         `{arg} = Rate::new(1, Duration::from_secs({period}))`";
    rest_lost_per_call(division, arg, permits, period) =
        "`{division}` drops its rest, and is 0 below {period}: write a `Rate`, as in \
         `{arg} = Rate::new({permits}, Duration::from_secs({period}))`, or \
         `({division}).max(1)` where the rest is to be dropped";
    no_power(power, sign, instead) =
        "`{power}` is no power, and `{sign}` means something else in Rust: write `{instead}`";
    rest_lost(division, number, instead) =
        "`{division}` is {number} in Rust, which drops the rest: write {instead}";
}

/// Reports a division that drops its rest, and a result of 0. `cost` may be 0.
pub(crate) fn check(arg: &str, quantity: Quantity, value: &Expr) -> syn::Result<()> {
    let mut signs = Signs(None);
    signs.visit_expr(value);
    if let Some(error) = signs.0 {
        return Err(error);
    }
    if is_negative(value) {
        return Err(error_at(value, negative(arg)));
    }
    let exact = Fraction::of(value);
    if let (Quantity::Rate, Expr::Binary(division)) = (quantity, unwrapped(value))
        && let (BinOp::Div(_), Some(Fraction { over: 1, under: 1 }), None) =
            (division.op, Fraction::of(&division.left), exact)
        && !matches!(unwrapped(&division.right), Expr::Lit(_))
    {
        let period = division.right.to_token_stream();
        return Err(error_at(value, rate_as_division(value.to_token_stream(), arg, period)));
    }
    if let (Quantity::Rate, Expr::Binary(division), None) = (quantity, unwrapped(value), exact)
        && let (BinOp::Div(_), Some(period)) = (division.op, literal_int(&division.right))
        && period.base10_digits() != "1"
        && !is_rounded_up(&division.left, period)
    {
        let permits = written(unwrapped(&division.left));
        let message =
            rest_lost_per_call(written(unwrapped(value)), arg, permits, period.base10_digits());
        return Err(error_at(value, message));
    }
    let mut divisions = Divisions(None, false);
    divisions.visit_expr(value);
    // `1.0 / 15.0`: no argument takes a float.
    let floats = divisions.1.then(|| exact.and_then(|exact| exact.text(quantity))).flatten();
    if let Some(text) = floats {
        return Err(error_at(value, fraction(text)));
    }
    let Some((division, part)) = divisions.0.filter(|_| !divisions.1) else {
        let is_zero = exact.is_some_and(|exact| exact.over == 0);
        return if is_zero && arg != "cost" { Err(error_at(value, zero(arg))) } else { Ok(()) };
    };
    let instead = exact.and_then(|exact| exact.text(quantity));
    let instead = instead
        .map_or_else(|| "the whole number that it is to be".to_owned(), |text| format!("`{text}`"));
    let number = part.over / part.under;
    Err(error_at(division, rest_lost(division.to_token_stream(), number, instead)))
}

/// Whether a sum is that of `(n + 59) / 60`, which rounds up and is never 0 for a number above 0.
fn is_rounded_up(sum: &Expr, period: &LitInt) -> bool {
    let Expr::Binary(sum) = unwrapped(sum) else { return false };
    let period = period.base10_parse::<u64>().ok();
    let is_less_one = |part: &Expr| whole(part).and_then(|part| part.checked_add(1)) == period;
    matches!(sum.op, BinOp::Add(_)) && (is_less_one(&sum.left) || is_less_one(&sum.right))
}

/// The value of an expression of literals that is a whole number.
pub(crate) fn whole(expr: &Expr) -> Option<u64> {
    Fraction::of(expr).filter(|exact| exact.under == 1).map(|exact| exact.over)
}

/// Whether more is subtracted than there is, in numbers that are written out.
fn is_negative(expr: &Expr) -> bool {
    let Expr::Binary(binary) = unwrapped(expr) else { return false };
    let values = (whole(&binary.left), whole(&binary.right));
    matches!((binary.op, values), (BinOp::Sub(_), (Some(left), Some(right))) if left < right)
}

/// The first power as other languages write it, or number that they read as octal. What a call
/// is given is its own.
struct Signs(Option<syn::Error>);

impl<'e> Visit<'e> for Signs {
    fn visit_expr(&mut self, expr: &'e Expr) {
        if matches!(expr, Expr::Binary(_) | Expr::Paren(_) | Expr::Group(_) | Expr::Lit(_)) {
            visit::visit_expr(self, expr);
        }
    }

    fn visit_expr_binary(&mut self, binary: &'e ExprBinary) {
        let (sign, exponent) = match (binary.op, unwrapped(&binary.right)) {
            (BinOp::BitXor(_), exponent) => ("^", exponent),
            (BinOp::Mul(_), Expr::Unary(unary))
                if matches!(unary.op, UnOp::Deref(_)) && literal_int(&unary.expr).is_some() =>
            {
                ("**", &*unary.expr)
            }
            _ => return visit::visit_expr_binary(self, binary),
        };
        let Some(number) = literal_int(exponent).and_then(|it| it.base10_parse::<u32>().ok())
        else {
            return visit::visit_expr_binary(self, binary);
        };
        let base = written(&binary.left);
        let power = whole(&binary.left).and_then(|base| base.checked_pow(number));
        let instead = power.map_or_else(|| format!("{base}.pow({number})"), |it| it.to_string());
        let message = no_power(format!("{base} {sign} {number}"), sign, instead);
        self.0.get_or_insert_with(|| error_at(binary, message));
    }

    fn visit_lit_int(&mut self, number: &'e LitInt) {
        if let Err(error) = no_leading_zero(number) {
            self.0.get_or_insert(error);
        }
    }
}

/// The first division of two such numbers that has a rest, and its exact value; and whether there
/// is a float.
struct Divisions<'e>(Option<(&'e ExprBinary, Fraction)>, bool);

impl<'e> Visit<'e> for Divisions<'e> {
    fn visit_expr_binary(&mut self, binary: &'e ExprBinary) {
        visit::visit_expr_binary(self, binary);
        let exact = Fraction::of_binary(binary).filter(|exact| exact.under != 1);
        if let (BinOp::Div(_), Some(exact), None) = (binary.op, exact, &self.0) {
            self.0 = Some((binary, exact));
        }
    }

    fn visit_lit_float(&mut self, _: &'e LitFloat) {
        self.1 = true;
    }
}

/// An exact number, in lowest terms; `under` is never 0.
#[derive(Clone, Copy)]
struct Fraction {
    over: u64,
    under: u64,
}

impl Fraction {
    fn new(over: u64, under: u64) -> Option<Self> {
        let divisor = gcd(over, under);
        (under != 0).then(|| Self { over: over / divisor, under: under / divisor })
    }

    /// As it is written where it cannot be a whole number.
    fn text(self, quantity: Quantity) -> Option<String> {
        match quantity {
            Quantity::Rate => Some(rate_text(self.over, self.under)),
            Quantity::Duration => fraction_of_second(self.over, self.under),
            Quantity::Count | Quantity::Parts => None,
        }
    }

    /// The value of an expression of literals, had it no rounding.
    fn of(expr: &Expr) -> Option<Self> {
        match unwrapped(expr) {
            Expr::Binary(binary) => Self::of_binary(binary),
            Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => {
                let (over, under) = decimal(number.base10_digits())?;
                Self::new(over, under)
            }
            expr => Self::new(literal_int(expr)?.base10_parse().ok()?, 1),
        }
    }

    fn of_binary(binary: &ExprBinary) -> Option<Self> {
        let (a, b) = (Self::of(&binary.left)?, Self::of(&binary.right)?);
        let under = a.under.checked_mul(b.under)?;
        let (left, right) = (a.over.checked_mul(b.under)?, b.over.checked_mul(a.under)?);
        match binary.op {
            BinOp::Add(_) => Self::new(left.checked_add(right)?, under),
            BinOp::Sub(_) => Self::new(left.checked_sub(right)?, under),
            BinOp::Mul(_) => Self::new(a.over.checked_mul(b.over)?, under),
            BinOp::Div(_) => Self::new(left, right),
            _ => None,
        }
    }
}

pub(crate) const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
