//! The text under which the definition of a default, a check, a computed column or an index's filter is kept: written
//! out of its tree as SQL Server does it, `([price]>=(0) AND [kind]<>'x')` for `price >= 0 and kind <> 'x'`.
//!
//! Always holds: the text is read again as an expression of the same meaning. What has no known form here (queries,
//! methods, floats) leaves the whole text as it was written.

use crate::ast::*;
use crate::{LexOptions, parse_condition};

/// How much an operator binds; an operand that binds less stands in parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Test,
    Sum,
    Product,
    Sign,
    Whole,
}

/// The text of a definition, in parentheses; `None` where it stays as it was written. `filter`: of an index, which
/// keeps its lists of IN.
pub(crate) fn text(expr: &Expr, filter: bool) -> Option<String> {
    let mut writer = Writer { text: String::from("("), filter };
    writer.expr(expr, Level::Or)?;
    writer.text.push(')');
    // A default is a condition here too: both are read by one grammar, where a value may stand alone.
    let read = crate::parse_expression(&writer.text, &LexOptions::default())
        .or_else(|_| parse_condition(&writer.text, &LexOptions::default()));
    read.is_ok().then_some(writer.text)
}

/// What was written, in one pair of parentheses however many it had: a script of the definition, run again, gives the same
/// text.
pub(crate) fn as_written(source: &str) -> String {
    let mut bare = source.trim();
    while let Some(inner) = within_parentheses(bare) {
        bare = inner.trim();
    }
    format!("({bare})")
}

/// What one pair of parentheses around the whole text encloses.
fn within_parentheses(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    // A comment may hold any of these.
    let is_commented = inner.contains("--") || inner.contains("/*");
    let mut depth = 0u32;
    let mut quote = None;
    for c in inner.chars() {
        match (quote, c) {
            // A doubled quote ends one text and begins the next.
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => quote = Some(']'),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.checked_sub(1)?,
            (None, '-' | '/') if is_commented => return None,
            (None, _) => {}
        }
    }
    Some(inner)
}

/// The column that a condition is about, if it is about one alone.
pub(crate) fn only_column(condition: &Expr) -> Option<&Ident> {
    fn walk<'e>(expr: &'e Expr, found: &mut Vec<&'e Ident>) {
        match &expr.kind {
            ExprKind::Column(column) => found.push(&column.name),
            ExprKind::Function(call) if takes_part(&call.name.name.value.to_lowercase()) => {
                call.args.iter().skip(1).for_each(|arg| walk(arg, found));
            }
            _ => expr.for_each_child(&mut |child| walk(child, found)),
        }
    }
    let mut found = Vec::new();
    walk(condition, &mut found);
    let (first, others) = found.split_first()?;
    others.iter().all(|other| first.is(&other.value)).then_some(*first)
}

struct Writer {
    text: String,
    filter: bool,
}

impl Writer {
    fn expr(&mut self, expr: &Expr, around: Level) -> Option<()> {
        let level = level(expr, self.filter);
        // Two signs in a row would begin a comment.
        let parentheses = level < around || (level == Level::Sign && self.text.ends_with('-'));
        if parentheses {
            self.text.push('(');
        }
        self.kind(&expr.kind, level)?;
        if parentheses {
            self.text.push(')');
        }
        Some(())
    }

    fn kind(&mut self, kind: &ExprKind, level: Level) -> Option<()> {
        match kind {
            ExprKind::Literal(literal) => self.literal(literal),
            ExprKind::Column(column) => self.column(column),
            ExprKind::SystemVariable(name) => {
                self.text += &name.to_lowercase();
                Some(())
            }
            ExprKind::Unary { op, expr } => self.unary(*op, expr),
            ExprKind::Binary { op, left, right } => {
                let above =
                    if matches!(op, BinaryOp::And | BinaryOp::Or) { level } else { next(level) };
                let left_level = if level == Level::Test { above } else { level };
                self.expr(left, left_level)?;
                self.text += sign(*op);
                self.expr(right, above)
            }
            ExprKind::Chain { first, rest } => {
                self.expr(first, Level::Sum)?;
                for (op, operand) in rest {
                    self.text += sign(*op);
                    self.expr(operand, Level::Product)?;
                }
                Some(())
            }
            ExprKind::Like { negated, expr, pattern, escape } => {
                self.text += if *negated { "NOT " } else { "" };
                self.expr(expr, Level::Sum)?;
                self.text += " like ";
                self.expr(pattern, Level::Sum)?;
                if let Some(escape) = escape {
                    self.text += " escape ";
                    self.expr(escape, Level::Sum)?;
                }
                Some(())
            }
            ExprKind::Between { negated, expr, low, high } => {
                let (first, word, second) =
                    if *negated { ("<", " OR ", ">") } else { (">=", " AND ", "<=") };
                self.expr(expr, Level::Sum)?;
                self.text += first;
                self.expr(low, Level::Sum)?;
                self.text += word;
                self.expr(expr, Level::Sum)?;
                self.text += second;
                self.expr(high, Level::Sum)
            }
            ExprKind::InList { negated, expr, list } => self.list(*negated, expr, list),
            ExprKind::IsNull { negated, expr } => {
                self.expr(expr, Level::Sum)?;
                self.text += if *negated { " IS NOT NULL" } else { " IS NULL" };
                Some(())
            }
            ExprKind::Case { operand, branches, otherwise } => {
                self.text += "case";
                if let Some(operand) = operand {
                    self.text.push(' ');
                    self.expr(operand, Level::Sum)?;
                }
                for branch in branches {
                    self.text += " when ";
                    self.expr(&branch.when, Level::Or)?;
                    self.text += " then ";
                    self.expr(&branch.then, Level::Sum)?;
                }
                if let Some(otherwise) = otherwise {
                    self.text += " else ";
                    self.expr(otherwise, Level::Sum)?;
                }
                self.text += " end";
                Some(())
            }
            ExprKind::Cast(cast) => self.cast(cast),
            ExprKind::Function(call) => self.call(call),
            ExprKind::Collate { expr, collation } => {
                self.expr(expr, Level::Whole)?;
                self.text += " collate ";
                self.text += &collation.value;
                Some(())
            }
            ExprKind::Variable(_)
            | ExprKind::InSubquery { .. }
            | ExprKind::Exists(_)
            | ExprKind::Quantified { .. }
            | ExprKind::IsDistinct { .. }
            | ExprKind::Fulltext(_)
            | ExprKind::Subquery(_) => None,
        }
    }

    fn literal(&mut self, literal: &Literal) -> Option<()> {
        self.text += &match literal {
            Literal::Null => "NULL".to_owned(),
            Literal::Int(number) => format!("({number})"),
            Literal::Decimal(digits) if digits.starts_with('.') => format!("(0{digits})"),
            Literal::Decimal(digits) => format!("({digits})"),
            Literal::Binary(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
                format!("0x{digits}")
            }
            Literal::String { value, national } => {
                let mark = if *national { "N" } else { "" };
                format!("{mark}'{}'", value.replace('\'', "''"))
            }
            Literal::Float(_) | Literal::Money(_) => return None,
        };
        Some(())
    }

    fn column(&mut self, column: &ColumnRef) -> Option<()> {
        if column.name.value.starts_with('$') {
            return None;
        }
        for part in &column.qualifier {
            self.text += &bracketed(&part.value);
            self.text.push('.');
        }
        self.text += &bracketed(&column.name.value);
        Some(())
    }

    fn unary(&mut self, op: UnaryOp, expr: &Expr) -> Option<()> {
        let digits = match &expr.kind {
            ExprKind::Literal(Literal::Int(number)) => Some(number.to_string()),
            ExprKind::Literal(Literal::Decimal(digits)) if digits.starts_with('.') => {
                Some(format!("0{digits}"))
            }
            ExprKind::Literal(Literal::Decimal(digits)) => Some(digits.clone()),
            _ => None,
        };
        match (op, digits) {
            (UnaryOp::Minus, Some(digits)) => self.text += &format!("(-{digits})"),
            (UnaryOp::Not, _) => {
                self.text += "NOT ";
                self.expr(expr, Level::Test)?;
            }
            (UnaryOp::Minus | UnaryOp::Plus | UnaryOp::BitNot, _) => {
                self.text.push(match op {
                    UnaryOp::Minus => '-',
                    UnaryOp::BitNot => '~',
                    _ => '+',
                });
                self.expr(expr, Level::Whole)?;
            }
        }
        Some(())
    }

    /// SQL Server makes comparisons of a list, from its last value to its first; a filter keeps the list.
    fn list(&mut self, negated: bool, expr: &Expr, list: &[Expr]) -> Option<()> {
        if self.filter {
            self.expr(expr, Level::Sum)?;
            self.text += if negated { " NOT IN (" } else { " IN (" };
            for (at, value) in list.iter().enumerate() {
                self.text += if at > 0 { ", " } else { "" };
                self.expr(value, Level::Sum)?;
            }
            self.text.push(')');
            return Some(());
        }
        let (sign, word) = if negated { ("<>", " AND ") } else { ("=", " OR ") };
        for (at, value) in list.iter().rev().enumerate() {
            self.text += if at > 0 { word } else { "" };
            self.expr(expr, Level::Sum)?;
            self.text += sign;
            self.expr(value, Level::Sum)?;
        }
        Some(())
    }

    fn cast(&mut self, cast: &Cast) -> Option<()> {
        if cast.parse {
            return None;
        }
        self.text += if cast.try_ { "TRY_CONVERT(" } else { "CONVERT(" };
        self.type_name(&cast.ty);
        self.text.push(',');
        self.expr(&cast.expr, Level::Sum)?;
        if let Some(style) = &cast.style {
            self.text.push(',');
            self.expr(style, Level::Sum)?;
        }
        self.text.push(')');
        Some(())
    }

    fn type_name(&mut self, ty: &TypeName) {
        if let Some(schema) = ty.schema.as_ref().filter(|schema| !schema.is("sys")) {
            self.text += &bracketed(&schema.value);
            self.text.push('.');
        }
        self.text += &bracketed(match ty.name.as_str() {
            "integer" => "int",
            "dec" => "decimal",
            "character" => "char",
            "character varying" | "char varying" => "varchar",
            "national character" | "national char" => "nchar",
            "national character varying" | "national char varying" => "nvarchar",
            "national text" => "ntext",
            "binary varying" => "varbinary",
            "double precision" => "float",
            "rowversion" => "timestamp",
            name => name,
        });
        let args: Vec<String> = ty
            .args
            .iter()
            .map(|arg| match arg {
                TypeArg::Number(number) => number.to_string(),
                TypeArg::Max => "max".to_owned(),
            })
            .collect();
        if !args.is_empty() {
            self.text += &format!("({})", args.join(","));
        }
        if let Some(of) = &ty.xml {
            let facet = if of.document { "DOCUMENT" } else { "CONTENT" };
            let schema = of.collection.schema.as_ref();
            let schema = schema.map_or(String::new(), |s| format!("{}.", bracketed(&s.value)));
            let name = bracketed(&of.collection.name.value);
            self.text += &format!("({facet} {schema}{name})");
        }
    }

    fn call(&mut self, call: &FunctionCall) -> Option<()> {
        let plain = !call.star
            && !call.distinct
            && !call.ignore_nulls
            && call.over.is_none()
            && call.within_group.is_empty();
        let name = &call.name;
        if plain && name.schema.is_none() && !name.name.quoted {
            if let Some((ty, property)) = name.name.value.split_once("::=") {
                self.text += &format!("{}::{}", bracketed(ty), bracketed(property));
                return Some(());
            }
            if let Some((ty, method)) = name.name.value.split_once("::") {
                self.text += &format!("{}::{method}(", bracketed(ty));
                return self.arguments(&call.args);
            }
            if let Some(method) = name.name.value.strip_prefix('.') {
                return self.method(method, &call.args);
            }
        }
        // NEXT VALUE FOR and the methods of xml are no calls to write so.
        let word = name.name.value.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !plain
            || (name.schema.is_none() && !word)
            || crate::parser::is_xml_method(&name.name.value)
        {
            return None;
        }
        let lower = name.name.value.to_lowercase();
        if name.schema.is_none() && call.args.is_empty() {
            match lower.as_str() {
                "current_timestamp" => self.text += "getdate()",
                "current_user" | "session_user" | "user" => self.text += "user_name()",
                "system_user" => self.text += "suser_sname()",
                "current_date" => return None,
                name => self.text += &format!("{name}()"),
            }
            return Some(());
        }
        let mut args = call.args.as_slice();
        if name.schema.is_some() {
            self.text += &name.to_text();
            self.text.push('(');
        } else {
            self.text += &lower;
            self.text.push('(');
            if takes_part(&lower) {
                let (part, rest) = args.split_first()?;
                let ExprKind::Column(ColumnRef { qualifier, name }) = &part.kind else {
                    return None;
                };
                if !qualifier.is_empty() {
                    return None;
                }
                self.text += part_name(&name.value.to_lowercase());
                self.text += if rest.is_empty() { "" } else { "," };
                args = rest;
            }
        }
        self.arguments(args)
    }

    /// `a,b)`
    fn arguments(&mut self, args: &[Expr]) -> Option<()> {
        for (at, arg) in args.iter().enumerate() {
            self.text += if at > 0 { "," } else { "" };
            self.expr(arg, Level::Sum)?;
        }
        self.text.push(')');
        Some(())
    }

    /// A method of a column or of what a call yields; xml's are left as they were written.
    fn method(&mut self, method: &str, args: &[Expr]) -> Option<()> {
        let (of, args) = args.split_first()?;
        let named = matches!(of.kind, ExprKind::Column(_) | ExprKind::Function(_));
        if !named || crate::parser::is_xml_method(method) {
            return None;
        }
        self.expr(of, Level::Sum)?;
        if let Some(property) = method.strip_prefix('=') {
            self.text += &format!(".{}", bracketed(property));
            return Some(());
        }
        self.text += &format!(".{}(", bracketed(method));
        self.arguments(args)
    }
}

/// Functions whose first argument is a part of a date.
fn takes_part(name: &str) -> bool {
    let of =
        ["dateadd", "datediff", "datediff_big", "datepart", "datename", "datetrunc", "date_bucket"];
    of.contains(&name)
}

/// A part of a date by its whole name; an unknown one as it is.
fn part_name(part: &str) -> &str {
    match part {
        "yy" | "yyyy" => "year",
        "qq" | "q" => "quarter",
        "mm" | "m" => "month",
        "dy" | "y" => "dayofyear",
        "dd" | "d" => "day",
        "wk" | "ww" => "week",
        "dw" | "w" => "weekday",
        "hh" => "hour",
        "mi" | "n" => "minute",
        "ss" | "s" => "second",
        "ms" => "millisecond",
        "mcs" => "microsecond",
        "ns" => "nanosecond",
        "tz" => "tzoffset",
        "isowk" | "isoww" => "iso_week",
        part => part,
    }
}

fn level(expr: &Expr, filter: bool) -> Level {
    match &expr.kind {
        ExprKind::Binary { op: BinaryOp::Or, .. } => Level::Or,
        ExprKind::Binary { op: BinaryOp::And, .. } => Level::And,
        ExprKind::Between { negated: true, .. } => Level::Or,
        ExprKind::Between { negated: false, .. } => Level::And,
        ExprKind::InList { list, negated, .. } if !filter && list.len() > 1 => {
            if *negated {
                Level::And
            } else {
                Level::Or
            }
        }
        ExprKind::Unary { op: UnaryOp::Not, .. } | ExprKind::Like { negated: true, .. } => {
            Level::Not
        }
        ExprKind::Binary { op, .. } if op.is_comparison() => Level::Test,
        ExprKind::Like { .. } | ExprKind::IsNull { .. } | ExprKind::InList { .. } => Level::Test,
        ExprKind::Binary { op, .. } if op.is_additive() => Level::Sum,
        ExprKind::Chain { .. } => Level::Sum,
        ExprKind::Binary { .. } => Level::Product,
        ExprKind::Unary { op: UnaryOp::Minus, expr } => match &expr.kind {
            ExprKind::Literal(Literal::Int(_) | Literal::Decimal(_)) => Level::Whole,
            _ => Level::Sign,
        },
        ExprKind::Unary { .. } | ExprKind::Collate { .. } => Level::Sign,
        _ => Level::Whole,
    }
}

/// The level of what stands right of an operator that is read from the left.
fn next(level: Level) -> Level {
    match level {
        Level::Or => Level::And,
        Level::And => Level::Not,
        Level::Not => Level::Test,
        Level::Test => Level::Sum,
        Level::Sum => Level::Product,
        Level::Product => Level::Sign,
        Level::Sign | Level::Whole => Level::Whole,
    }
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::Eq => "=",
        BinaryOp::NotEq => "<>",
        BinaryOp::Lt => "<",
        BinaryOp::LtEq => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::GtEq => ">=",
        BinaryOp::And => " AND ",
        BinaryOp::Or => " OR ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(source: &str, filter: bool) -> String {
        let options = LexOptions::default();
        let expr = crate::parse_condition(source, &options)
            .or_else(|_| crate::parse_expression(source, &options))
            .expect("an expression");
        let text = text(&expr, filter).unwrap_or_else(|| format!("as written: {source}"));
        if !text.starts_with("as written") {
            let again = crate::parse_condition(&text, &options)
                .or_else(|_| crate::parse_expression(&text, &options))
                .expect("an expression again");
            assert_eq!(super::text(&again, filter).as_deref(), Some(&*text), "of {source}");
        }
        text
    }

    #[test]
    fn as_sql_server_keeps_them() {
        for (source, kept) in [
            ("0", "((0))"),
            ("-1", "((-1))"),
            ("((5))", "((5))"),
            ("1.50", "((1.50))"),
            ("'it''s'", "('it''s')"),
            ("N'x'", "(N'x')"),
            ("NULL", "(NULL)"),
            ("0x0aFF", "(0x0AFF)"),
            ("(1)+(2)", "((1)+(2))"),
            ("GetDate()", "(getdate())"),
            ("CURRENT_TIMESTAMP", "(getdate())"),
            ("a >= 5 and B <> 'x'", "([a]>=(5) AND [B]<>'x')"),
            ("(a > 0 or b > 0) AND c != 1", "(([a]>(0) OR [b]>(0)) AND [c]<>(1))"),
            ("a > 0 or b > 0 AND c = 1", "([a]>(0) OR [b]>(0) AND [c]=(1))"),
            ("NOT (a = 1 AND b = 2)", "(NOT ([a]=(1) AND [b]=(2)))"),
            ("a in (1, 2, 3)", "([a]=(3) OR [a]=(2) OR [a]=(1))"),
            ("a in ('x') and b = 1", "([a]='x' AND [b]=(1))"),
            ("a not in (1, 2)", "([a]<>(2) AND [a]<>(1))"),
            ("a between 1 and 5", "([a]>=(1) AND [a]<=(5))"),
            ("a like '%x' and b is not null", "([a] like '%x' AND [b] IS NOT NULL)"),
            ("a not like 'x!%' escape '!'", "(NOT [a] like 'x!%' escape '!')"),
            ("(a + b) * c - -d", "(([a]+[b])*[c]-(-[d]))"),
            ("a - (b - c)", "([a]-([b]-[c]))"),
            ("a - b - c", "([a]-[b]-[c])"),
            ("cast(a as integer)", "(CONVERT([int],[a]))"),
            ("convert(varchar(10), d, 112)", "(CONVERT([varchar](10),[d],(112)))"),
            ("try_cast(a as decimal(10, 2))", "(TRY_CONVERT([decimal](10,2),[a]))"),
            ("dateadd(dd, 1, d)", "(dateadd(day,(1),[d]))"),
            ("dbo.f(a, 1)", "([dbo].[f]([a],(1)))"),
            ("case when a > 0 then 'y' else 'n' end", "(case when [a]>(0) then 'y' else 'n' end)"),
            ("iif(a > 0, 1, 2)", "(case when [a]>(0) then (1) else (2) end)"),
            ("a collate Latin1_General_BIN = 'x'", "([a] collate Latin1_General_BIN='x')"),
        ] {
            assert_eq!(written(source, false), kept, "of {source}");
        }
        assert_eq!(written("a IN (1,2) and b = 1", true), "([a] IN ((1), (2)) AND [b]=(1))");
    }

    #[test]
    fn what_has_no_form_stays() {
        for source in ["1e3", "NEXT VALUE FOR dbo.s", "$1", "x.value('a', 'int')"] {
            assert_eq!(written(source, false), format!("as written: {source}"));
        }
    }
}
