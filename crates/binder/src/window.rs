//! Calls with OVER, and the WINDOW clause.
//!
//! Sources: "SELECT - OVER clause", "SELECT - WINDOW clause", "Analytic functions", "Ranking functions".

use ir::*;
use syntax::ast;
use types::SqlType;

use crate::context::{Binder, Clause};
use semantics::signatures::aggregate_func;
use semantics::{BindError, Result};

/// Functions that mean nothing without OVER.
const WINDOW_ONLY: &[&str] = &[
    "CUME_DIST",
    "DENSE_RANK",
    "FIRST_VALUE",
    "LAG",
    "LAST_VALUE",
    "LEAD",
    "NTILE",
    "PERCENTILE_CONT",
    "PERCENTILE_DISC",
    "PERCENT_RANK",
    "RANK",
    "ROW_NUMBER",
];

const WHOLE: WindowFrame = WindowFrame {
    range: false,
    start: FrameBound::UnboundedPreceding,
    end: FrameBound::UnboundedFollowing,
};

const RUNNING: WindowFrame =
    WindowFrame { range: true, start: FrameBound::UnboundedPreceding, end: FrameBound::CurrentRow };

/// Most passes over windows upon each other, queries within queries included: each is an operator that runs the one below
/// it on the same stack.
const PASSES_MAX: usize = 128;

impl Binder<'_> {
    /// The rows of a SELECT with its windows: those of one PARTITION BY and ORDER BY are one pass, upon the one before. 8631.
    pub(crate) fn passes_over(&mut self, input: Rel, windows: Vec<Window>) -> Result<Rel> {
        let mut different: Vec<&Window> = Vec::new();
        for window in &windows {
            if !different.iter().any(|known| known.shares_pass(window)) {
                if self.passes + different.len() == PASSES_MAX {
                    return Err(BindError::stack_limit(self.line));
                }
                different.push(window);
            }
        }
        self.passes += different.len();
        Ok(Rel::Window { input: Box::new(input), windows })
    }

    /// 10753 for a window function without OVER.
    #[inline(never)]
    pub fn check_over(&self, f: &ast::FunctionCall, name: &str, line: u32) -> Result<()> {
        if !WINDOW_ONLY.contains(&name) {
            return Ok(());
        }
        let shown = &f.name.name.value;
        let text = format!("The function '{shown}' must have an OVER clause.");
        Err(BindError::new(10753, 15, line, text))
    }

    /// A call with OVER: 4108 outside select list and ORDER BY, 4109 inside another.
    #[inline(never)]
    pub fn window(
        &mut self,
        f: &ast::FunctionCall,
        name: &str,
        over: &ast::Over,
        line: u32,
    ) -> Result<Expr> {
        let allowed = self
            .selects
            .last()
            .is_some_and(|s| matches!(s.clause, Clause::SelectList | Clause::OrderBy));
        if !allowed {
            return Err(BindError::new(
                4108,
                15,
                line,
                "Windowed functions can only appear in the SELECT or ORDER BY clauses.",
            ));
        }
        let state = self.selects.last_mut().expect("checked above");
        if state.in_window || state.in_aggregate {
            return Err(BindError::new(
                4109,
                15,
                line,
                "Windowed functions cannot be used in the context of another windowed function or \
                 aggregate.",
            ));
        }
        state.in_window = true;
        let bound = self.window_call(f, name, over, line);
        let state = self.selects.last_mut().expect("checked above");
        state.in_window = false;
        let (window, nullable) = bound?;
        let (out, ty) = (window.out, window.ty);
        state.windows.push(window);
        Ok(Expr::col(out, ty, nullable))
    }

    fn window_call(
        &mut self,
        f: &ast::FunctionCall,
        name: &str,
        over: &ast::Over,
        line: u32,
    ) -> Result<(Window, bool)> {
        let over = self.named_window(over, 0, line)?;
        let shown = &f.name.name.value;
        let fails = |number: i32, text: String| Err(BindError::new(number, 15, line, text));
        let partition =
            over.partition_by.iter().map(|e| self.expr(e)).collect::<Result<Vec<Expr>>>()?;
        let mut order = self.window_order(&over.order_by, line)?;
        let aggregate = aggregate_func(name);
        let framed = aggregate.is_some() || matches!(name, "FIRST_VALUE" | "LAST_VALUE");
        if over.frame.is_some() && !framed && WINDOW_ONLY.contains(&name) {
            return fails(10752, format!("The function '{shown}' may not have a window frame."));
        }
        let percentile = matches!(name, "PERCENTILE_CONT" | "PERCENTILE_DISC");
        let ordered = WINDOW_ONLY.contains(&name) && !percentile;
        if ordered && order.is_empty() {
            return fails(
                4112,
                format!("The function '{shown}' must have an OVER clause with ORDER BY."),
            );
        }
        if f.ignore_nulls && !matches!(name, "LAG" | "LEAD" | "FIRST_VALUE" | "LAST_VALUE") {
            return fails(102, "Incorrect syntax near 'IGNORE'.".into());
        }
        let (fewest, most) = match name {
            "NTILE" | "FIRST_VALUE" | "LAST_VALUE" | "PERCENTILE_CONT" | "PERCENTILE_DISC" => {
                (1, 1)
            }
            "LAG" | "LEAD" => (1, 3),
            _ => (0, 0),
        };
        if ordered || percentile {
            let lower = name.to_lowercase();
            if f.args.len() < fewest || f.args.len() > most {
                return match most == fewest {
                    true => {
                        fails(174, format!("The {lower} function requires {most} argument(s)."))
                    }
                    false => fails(
                        189,
                        format!("The {lower} function requires {fewest} to {most} arguments."),
                    ),
                };
            }
        }
        let mut frame = None;
        let mut nullable = false;
        let (func, ty) = match name {
            "ROW_NUMBER" => (WindowFunc::RowNumber, SqlType::BigInt),
            "RANK" => (WindowFunc::Rank, SqlType::BigInt),
            "DENSE_RANK" => (WindowFunc::DenseRank, SqlType::BigInt),
            "PERCENT_RANK" => (WindowFunc::PercentRank, SqlType::Float),
            "CUME_DIST" => (WindowFunc::CumeDist, SqlType::Float),
            "NTILE" => {
                let count = self.expr(&f.args[0])?;
                let count = self.coerce(count, SqlType::BigInt, CastMode::Implicit)?;
                (WindowFunc::NTile(count), SqlType::BigInt)
            }
            "LAG" | "LEAD" => {
                nullable = true;
                self.shifted(f, name)?
            }
            "FIRST_VALUE" | "LAST_VALUE" => {
                nullable = true;
                frame = Some(self.frame(over.frame, &order, line)?);
                let arg = self.expr(&f.args[0])?;
                let (ty, ignore_nulls) = (arg.ty, f.ignore_nulls);
                let func = match name {
                    "FIRST_VALUE" => WindowFunc::FirstValue { arg, ignore_nulls },
                    _ => WindowFunc::LastValue { arg, ignore_nulls },
                };
                (func, ty)
            }
            "PERCENTILE_CONT" | "PERCENTILE_DISC" => {
                if !order.is_empty() {
                    return fails(
                        10758,
                        format!("The function '{shown}' may not have ORDER BY in OVER clause."),
                    );
                }
                nullable = true;
                order = self.window_order(&f.within_group, line)?;
                if f.within_group.is_empty() {
                    return fails(
                        10754,
                        format!("The function '{shown}' must have a WITHIN GROUP clause."),
                    );
                }
                self.percentile(f, name, &order, line)?
            }
            _ => {
                let Some(func) = aggregate else {
                    return fails(195, format!("'{shown}' is not a recognized function name."));
                };
                if func.is_ordered() {
                    return fails(
                        4113,
                        format!(
                            "The function '{shown}' is not a valid windowing function, and cannot \
                             be used with the OVER clause."
                        ),
                    );
                }
                if f.distinct {
                    return fails(
                        10759,
                        "Use of DISTINCT is not allowed with the OVER clause.".into(),
                    );
                }
                frame = Some(self.frame(over.frame, &order, line)?);
                let (arg, ty) = self.aggregate_arg(f, func, line)?;
                nullable = !matches!(func, AggFunc::Count | AggFunc::CountBig);
                (WindowFunc::Aggregate { func, arg }, ty)
            }
        };
        let out = self.new_col();
        Ok((Window { out, func, partition, order, frame, ty }, nullable))
    }

    /// LAG and LEAD.
    fn shifted(&mut self, f: &ast::FunctionCall, name: &str) -> Result<(WindowFunc, SqlType)> {
        let arg = self.expr(&f.args[0])?;
        let ty = arg.ty;
        let mut offset = None;
        if let Some(e) = f.args.get(1) {
            let e = self.expr(e)?;
            offset = Some(self.coerce(e, SqlType::BigInt, CastMode::Implicit)?);
        }
        let mut default = None;
        if let Some(e) = f.args.get(2) {
            let e = self.expr(e)?;
            default = Some(self.coerce(e, ty, CastMode::Implicit)?);
        }
        let ignore_nulls = f.ignore_nulls;
        let func = match name {
            "LAG" => WindowFunc::Lag { arg, offset, default, ignore_nulls },
            _ => WindowFunc::Lead { arg, offset, default, ignore_nulls },
        };
        Ok((func, ty))
    }

    /// APPROX_PERCENTILE_CONT and _DISC: the value asked for, its type, the share and the order. 174, 8117, 10751, 10754.
    pub fn approximate_percentile(
        &mut self,
        f: &ast::FunctionCall,
        func: AggFunc,
        line: u32,
    ) -> Result<(Option<Expr>, SqlType, Option<Box<Joining>>)> {
        let shown = &f.name.name.value;
        let fails = |number, text: String| Err(BindError::new(number, 15, line, text));
        if f.args.len() != 1 || f.star || f.distinct {
            let lower = shown.to_lowercase();
            return fails(174, format!("The {lower} function requires 1 argument(s)."));
        }
        if f.within_group.is_empty() {
            return fails(
                10754,
                format!("The function '{shown}' must have a WITHIN GROUP clause."),
            );
        }
        let order = self.window_order(&f.within_group, line)?;
        let name =
            if func == AggFunc::PercentileCont { "PERCENTILE_CONT" } else { "PERCENTILE_DISC" };
        let (asked, ty) = self.percentile(f, name, &order, line)?;
        let (WindowFunc::PercentileCont { at, arg } | WindowFunc::PercentileDisc { at, arg }) =
            asked
        else {
            return fails(195, format!("'{shown}' is not a recognized function name."));
        };
        if !arg.ty.is_numeric() {
            let text = format!(
                "Operand data type {} is invalid for {} operator.",
                arg.ty.message_name(),
                shown.to_lowercase()
            );
            return Err(BindError::new(8117, 16, line, text));
        }
        Ok((Some(arg), ty, Some(Box::new(Joining { separator: at, order }))))
    }

    /// PERCENTILE_CONT and PERCENTILE_DISC: 10751.
    fn percentile(
        &mut self,
        f: &ast::FunctionCall,
        name: &str,
        order: &[SortKey],
        line: u32,
    ) -> Result<(WindowFunc, SqlType)> {
        let [key] = order else {
            return Err(BindError::new(
                10751,
                15,
                line,
                format!(
                    "The ORDER BY in WITHIN GROUP clause of '{}' function must have exactly one \
                     expression.",
                    f.name.name.value
                ),
            ));
        };
        let at = self.expr(&f.args[0])?;
        let at = self.coerce(at, SqlType::Float, CastMode::Implicit)?;
        let arg = key.expr.clone();
        if name == "PERCENTILE_DISC" {
            let ty = arg.ty;
            return Ok((WindowFunc::PercentileDisc { at, arg }, ty));
        }
        if !arg.ty.is_numeric() {
            return Err(BindError::new(
                8117,
                16,
                line,
                format!(
                    "Operand data type {} is invalid for percentile_cont operator.",
                    arg.ty.message_name()
                ),
            ));
        }
        let arg = self.coerce(arg, SqlType::Float, CastMode::Implicit)?;
        Ok((WindowFunc::PercentileCont { at, arg }, SqlType::Float))
    }

    /// ORDER BY of OVER and WITHIN GROUP: 5308, 5309.
    pub fn window_order(&mut self, items: &[ast::OrderItem], line: u32) -> Result<Vec<SortKey>> {
        let mut order = Vec::with_capacity(items.len());
        for item in items {
            let (number, what) = match &item.expr.kind {
                // What operators make of literals is a constant too; a whole number from 1 on would be an index.
                _ if semantics::literals::is_constant(&item.expr) => {
                    match semantics::literals::whole(&item.expr) {
                        Some(1..) => (5308, "integer indices"),
                        _ => (5309, "constants"),
                    }
                }
                _ => {
                    let expr = self.expr(&item.expr)?;
                    self.ordered(&expr, "ORDER BY")?;
                    order.push(SortKey { expr, desc: item.descending });
                    continue;
                }
            };
            return Err(BindError::new(
                number,
                16,
                line,
                format!(
                    "Windowed functions, aggregates and NEXT VALUE FOR functions do not support \
                     {what} as ORDER BY clause expressions."
                ),
            ));
        }
        Ok(order)
    }

    /// The frame as it is meant: 10756, 4193, 4194.
    fn frame(
        &self,
        frame: Option<ast::Frame>,
        order: &[SortKey],
        line: u32,
    ) -> Result<WindowFrame> {
        let Some(frame) = frame else {
            return Ok(if order.is_empty() { WHOLE } else { RUNNING });
        };
        if order.is_empty() {
            return Err(BindError::new(
                10756,
                15,
                line,
                "Window frame with ROWS or RANGE must have an ORDER BY clause.",
            ));
        }
        let (start, end) = (bound(frame.start), frame.end.map_or(FrameBound::CurrentRow, bound));
        let counted = |b| matches!(b, FrameBound::Preceding(_) | FrameBound::Following(_));
        if frame.range && (counted(start) || counted(end)) {
            return Err(BindError::new(
                4194,
                16,
                line,
                "RANGE is only supported with UNBOUNDED and CURRENT ROW window frame delimiters.",
            ));
        }
        if start == FrameBound::UnboundedFollowing
            || end == FrameBound::UnboundedPreceding
            || rank(start) > rank(end)
        {
            return Err(BindError::new(
                4193,
                16,
                line,
                format!(
                    "'BETWEEN {} AND {}' is not a valid window frame and cannot be used with the \
                     OVER clause.",
                    word(start),
                    word(end)
                ),
            ));
        }
        Ok(WindowFrame { range: frame.range, start, end })
    }

    /// OVER with what the WINDOW clause says of the name it begins with: 5362, 5365, 4123.
    fn named_window(&self, over: &ast::Over, depth: usize, line: u32) -> Result<ast::Over> {
        let Some(name) = &over.window else { return Ok(over.clone()) };
        let named = self.selects.last().map_or(&[][..], |s| &s.named);
        let found = named.iter().find(|w| catalog::same_name(&w.name.value, &name.value));
        let Some(found) = found else {
            let text = format!("Window '{}' is undefined.", name.value);
            return Err(BindError::new(5362, 15, line, text).with_state(3));
        };
        if depth > named.len() {
            let text = "Cyclic window references are not permitted.";
            return Err(BindError::new(5365, 15, line, text));
        }
        let base = self.named_window(&found.over, depth + 1, line)?;
        let twice = (!over.partition_by.is_empty() && !base.partition_by.is_empty())
            || (!over.order_by.is_empty() && !base.order_by.is_empty())
            || (over.frame.is_some() && base.frame.is_some());
        if twice {
            let text = "Window element in OVER clause can not also be specified in WINDOW clause.";
            let state = if base.frame.is_some() { 2 } else { 3 };
            return Err(BindError::new(4123, 15, line, text).with_state(state));
        }
        let either = |own: &Vec<ast::OrderItem>, base: Vec<ast::OrderItem>| match own.is_empty() {
            true => base,
            false => own.clone(),
        };
        Ok(ast::Over {
            window: None,
            partition_by: match over.partition_by.is_empty() {
                true => base.partition_by,
                false => over.partition_by.clone(),
            },
            order_by: either(&over.order_by, base.order_by),
            frame: over.frame.or(base.frame),
        })
    }

    /// 16211 for a name that the WINDOW clause has twice.
    pub fn check_windows(&self, windows: &[ast::NamedWindow]) -> Result<()> {
        for (i, window) in windows.iter().enumerate() {
            if windows[..i].iter().any(|w| catalog::same_name(&w.name.value, &window.name.value)) {
                return Err(BindError::new(
                    16211,
                    15,
                    window.name.span.line.max(1),
                    "Cannot repeat window name in the WINDOW clause.",
                ));
            }
        }
        Ok(())
    }
}

fn bound(bound: ast::FrameBound) -> FrameBound {
    match bound {
        ast::FrameBound::UnboundedPreceding => FrameBound::UnboundedPreceding,
        ast::FrameBound::Preceding(n) => FrameBound::Preceding(n),
        ast::FrameBound::CurrentRow => FrameBound::CurrentRow,
        ast::FrameBound::Following(n) => FrameBound::Following(n),
        ast::FrameBound::UnboundedFollowing => FrameBound::UnboundedFollowing,
    }
}

/// Bounds of a kind that comes later may not begin a frame that ends with an earlier one.
fn rank(bound: FrameBound) -> u8 {
    match bound {
        FrameBound::UnboundedPreceding => 0,
        FrameBound::Preceding(_) => 1,
        FrameBound::CurrentRow => 2,
        FrameBound::Following(_) => 3,
        FrameBound::UnboundedFollowing => 4,
    }
}

fn word(bound: FrameBound) -> &'static str {
    match bound {
        FrameBound::UnboundedPreceding => "UNBOUNDED PRECEDING",
        FrameBound::Preceding(_) => "... PRECEDING",
        FrameBound::CurrentRow => "CURRENT ROW",
        FrameBound::Following(_) => "... FOLLOWING",
        FrameBound::UnboundedFollowing => "UNBOUNDED FOLLOWING",
    }
}

/// A function that means nothing without OVER (10753).
pub(crate) fn is_window_function(name: &str) -> bool {
    WINDOW_ONLY.contains(&name.to_ascii_uppercase().as_str())
}
