//! TEXTPTR and TEXTVALID, and the functions of reserved names that READTEXT, WRITETEXT and UPDATETEXT are read as
//! (crates/syntax/src/parser/text_pointer.rs).
//!
//! A pointer is sixteen bytes made of the table, the column and the row's key: it is good for as long as the row is there,
//! and finds it by looking through the table. A table without a key has none.

use ir::*;
use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::Binder;
use semantics::typing::{arity, call, nullable};
use semantics::{BindError, Result};

const POINTER: SqlType = SqlType::VarBinary(Len::N(16));

impl Binder<'_> {
    /// A call about text pointers; None for any other.
    #[inline(never)]
    pub(super) fn text_pointer_call(
        &mut self,
        f: &ast::FunctionCall,
        name: &str,
        line: u32,
    ) -> Result<Option<Expr>> {
        let n = f.args.len();
        Ok(Some(match name {
            "TEXTPTR" => {
                arity(name, n, 1, 1, line)?;
                let column = self.expr(&f.args[0])?;
                self.text_pointer(column, line)?
            }
            "TEXTVALID" => {
                arity(name, n, 2, 2, line)?;
                self.text_valid(f, line)?
            }
            "READTEXT" => {
                arity(name, n, 4, 4, line)?;
                let before = self.failed.len();
                let args = self.args(f);
                self.told_once(before);
                let mut args = args?;
                let ty = args[1].ty;
                args[0] = self.coerce(args[0].clone(), POINTER, CastMode::Implicit)?;
                for arg in &mut args[2..] {
                    *arg = self.coerce(arg.clone(), SqlType::BigInt, CastMode::Implicit)?;
                }
                nullable(call(FuncId::ReadText, args, ty))
            }
            "WRITETEXT" | "UPDATETEXT" => {
                arity(name, n, 2, 2, line)?;
                let mut args = self.args(f)?;
                args[0] = self.coerce(args[0].clone(), POINTER, CastMode::Implicit)?;
                let shown = if name == "WRITETEXT" { "WriteText" } else { "UpdateText" };
                args.push(Expr::constant(Value::str(shown), SqlType::NVarChar(Len::N(128))));
                nullable(call(FuncId::CheckPointer, args, POINTER))
            }
            _ => return Ok(None),
        }))
    }

    /// The column of READTEXT stands twice in the query that it is read as, once in the statement.
    fn told_once(&mut self, before: usize) {
        let mut told = self.failed.split_off(before);
        told.dedup_by(|one, other| one.number == other.number && one.text == other.text);
        self.failed.append(&mut told);
    }

    /// 8116 for what is no text, ntext or image, 280 for what is no column of a table.
    fn text_pointer(&mut self, column: Expr, line: u32) -> Result<Expr> {
        if self.long_name(&column).is_none() {
            return Err(self.bad_argument(1, column.ty, "textptr", line));
        }
        let ExprKind::Col(id) = column.kind else { return Err(not_of_a_table(line)) };
        let found = self.bases.iter().find_map(|base| Some((base, base.place_of(id)?)));
        let Some((base, at)) = found else { return Err(not_of_a_table(line)) };
        let table = &base.table;
        let key = base.key();
        if key.is_empty() {
            return Err(BindError::unsupported("TEXTPTR of a table without a key", line));
        }
        let mut args = vec![Expr::int(table.object_id), Expr::int(at as i32)];
        args.extend(key.iter().map(|&at| {
            let part = &table.columns[at];
            Expr::col(ColId(base.first + at as u32), part.ty, part.nullable)
        }));
        let there = Expr::is_null(column, true);
        let pointer = call(FuncId::TextPointer, args, POINTER);
        self.make_case(vec![(there, pointer)], None)
    }

    /// TEXTVALID('table.column', pointer): 1 where a row has it, else 0.
    fn text_valid(&mut self, f: &ast::FunctionCall, line: u32) -> Result<Expr> {
        let ast::ExprKind::Literal(ast::Literal::String { value: place, .. }) = &f.args[0].kind
        else {
            return Err(BindError::unsupported("TEXTVALID of a name that is no constant", line));
        };
        let unknown = || self.error(207, format!("Invalid column name '{place}'."));
        let named = syntax::parse_expression(place, &syntax::LexOptions::default());
        let ast::ExprKind::Column(named) = named.map_err(|_| unknown())?.kind else {
            return Err(unknown());
        };
        let quoted = |part: &ast::Ident| format!("[{}]", part.value.replace(']', "]]"));
        let table: Vec<String> = named.qualifier.iter().map(quoted).collect();
        let text = format!(
            "CASE WHEN 0x IN (SELECT TEXTPTR({}) FROM {}) THEN 1 ELSE 0 END",
            quoted(&named.name),
            table.join(".")
        );
        let parsed = syntax::parse_expression(&text, &syntax::LexOptions::default());
        let mut parsed = parsed.map_err(|_| unknown())?;
        if let ast::ExprKind::Case { branches, .. } = &mut parsed.kind
            && let Some(branch) = branches.first_mut()
            && let ast::ExprKind::InSubquery { expr, .. } = &mut branch.when.kind
        {
            **expr = f.args[1].clone();
        }
        self.expr(&parsed)
    }
}

fn not_of_a_table(line: u32) -> BindError {
    BindError::new(280, 16, line, "Only base table columns are allowed in the TEXTPTR function.")
}
