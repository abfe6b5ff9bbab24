//! Table-valued functions of the language: STRING_SPLIT, GENERATE_SERIES, and a whole file by OPENROWSET(BULK).
//!
//! Sources: "STRING_SPLIT (Transact-SQL)", "GENERATE_SERIES (Transact-SQL)", "OPENROWSET BULK (Transact-SQL)".

use ir::*;
use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::*;
use crate::functions::constant_i64;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// A file as one row of one column, BulkColumn.
    #[inline(never)]
    pub(crate) fn openrowset(
        &mut self,
        name: &ast::ObjectName,
        args: &[ast::Expr],
        alias: Option<&ast::Ident>,
        renamed: &[ast::Ident],
    ) -> Result<Source> {
        let bound = args.iter().map(|e| self.expr(e)).collect::<Result<Vec<Expr>>>()?;
        let word = match bound.get(1).map(|word| &word.kind) {
            Some(ExprKind::Const(word)) => word.as_str().unwrap_or(""),
            _ => "",
        };
        let ty = match word {
            "SINGLE_CLOB" => SqlType::VarChar(Len::Max),
            "SINGLE_NCLOB" => SqlType::NVarChar(Len::Max),
            _ => SqlType::VarBinary(Len::Max),
        };
        let columns = vec![SystemColumn { name: "BulkColumn".into(), ty, nullable: true }];
        let params = Some(bound.iter().map(|e| e.ty).collect());
        let name_of = OPENROWSET.into();
        let view = SystemView { name: name_of, database: None, columns, params, function: None };
        self.system(std::sync::Arc::new(view), bound, name, alias, renamed)
    }

    /// The function of that name; none when it is not one of these.
    #[inline(never)]
    pub fn language_function(
        &mut self,
        name: &ast::ObjectName,
        args: &[ast::Expr],
        alias: Option<&ast::Ident>,
        renamed: &[ast::Ident],
    ) -> Result<Option<Source>> {
        let func = match name {
            _ if name.is_bare("string_split") => TableFunc::StringSplit,
            _ if name.is_bare("generate_series") => TableFunc::GenerateSeries,
            _ => return Ok(None),
        };
        let line = name.span.line.max(1);
        let lower = name.name.value.to_lowercase();
        if args.len() < 2 || args.len() > 3 {
            let text = format!("The {lower} function requires 2 to 3 arguments.");
            return Err(BindError::new(189, 15, line, text));
        }
        let bound = args.iter().map(|e| self.expr(e)).collect::<Result<Vec<Expr>>>()?;
        let (args, columns) = match func {
            TableFunc::StringSplit => self.string_split(bound, line)?,
            _ => self.generate_series(bound, line)?,
        };
        if !renamed.is_empty() && renamed.len() != columns.len() {
            let (number, word) =
                if renamed.len() < columns.len() { (8158, "more") } else { (8159, "fewer") };
            return Err(BindError::new(
                number,
                16,
                line,
                format!(
                    "'{}' has {word} columns than were specified in the column list.",
                    alias.unwrap_or(&name.name).value
                ),
            ));
        }
        let ids: Vec<(ColId, SqlType)> =
            columns.iter().map(|(_, ty)| (self.new_col(), *ty)).collect();
        self.note_plain(ids.iter().copied());
        let shown = alias.unwrap_or(&name.name).value.clone();
        let scope = ScopeTable {
            name: shown.clone(),
            schema: None,
            shown,
            columns: columns
                .iter()
                .zip(&ids)
                .enumerate()
                .map(|(i, ((name, _), (id, ty)))| ScopeColumn {
                    name: Some(
                        renamed.get(i).map_or_else(|| name.to_string(), |r| r.value.clone()),
                    ),
                    id: *id,
                    ty: *ty,
                    nullable: false,
                    identity: None,
                    updatable: false,
                    rowguid: false,
                })
                .collect(),
        };
        Ok(Some(Source { rel: Rel::Function { func, args, columns: ids }, tables: vec![scope] }))
    }

    /// 8116, 4199, 8748.
    fn string_split(&self, mut args: Vec<Expr>, line: u32) -> Result<BoundCall> {
        let ordinal = match args.get(2) {
            None => false,
            Some(e) if e.is_null_constant() => false,
            Some(e) => match constant_i64(e) {
                Some(0) => false,
                Some(1) => true,
                None => {
                    let text = "The enable_ordinal argument for string_split only supports constant values (not variables \
                                or columns).";
                    return Err(BindError::new(8748, 16, line, text));
                }
                Some(shown) => {
                    return Err(BindError::new(
                        4199,
                        16,
                        line,
                        format!(
                            "Argument value {shown} is invalid for argument 3 of string_split \
                             function."
                        ),
                    ));
                }
            },
        };
        args.truncate(2);
        let mut national = false;
        for (i, arg) in args.iter().enumerate() {
            match arg.ty {
                SqlType::NVarChar(_) | SqlType::NChar(_) => national = true,
                SqlType::VarChar(_) | SqlType::Char(_) => {}
                _ if arg.is_null_constant() => {}
                ty => return Err(self.bad_argument(i + 1, ty, "string_split", line)),
            }
        }
        let len = match args[0].ty {
            SqlType::NVarChar(len) | SqlType::VarChar(len) => len,
            SqlType::NChar(n) | SqlType::Char(n) => Len::N(n),
            _ => Len::N(1),
        };
        let len = match len {
            Len::N(n) if national => Len::N(n.min(4000)),
            len => len,
        };
        let ty = if national { SqlType::NVarChar(len) } else { SqlType::VarChar(len) };
        let wide = match national {
            true => SqlType::NVarChar(Len::Max),
            false => SqlType::VarChar(Len::Max),
        };
        let separator = args.remove(1);
        let text = self.coerce(args.remove(0), ty, CastMode::Implicit)?;
        let separator = self.coerce(separator, wide, CastMode::Implicit)?;
        let mut columns = vec![("value", ty)];
        if ordinal {
            columns.push(("ordinal", SqlType::BigInt));
        }
        Ok((vec![text, separator], columns))
    }

    /// 5373, 4199.
    fn generate_series(&self, args: Vec<Expr>, line: u32) -> Result<BoundCall> {
        let known: Vec<&Expr> = args.iter().filter(|e| !e.is_null_constant()).collect();
        let whole = |ty: SqlType| {
            matches!(ty, SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt)
        };
        let exact = |ty: SqlType| matches!(ty, SqlType::Decimal { .. });
        let first = known.first().map_or(SqlType::Int, |e| e.ty);
        let same = known.iter().all(|e| e.ty == first || (exact(e.ty) && exact(first)));
        if !same || !(whole(first) || exact(first)) {
            return Err(BindError::new(
                5373,
                16,
                line,
                "All the input parameters should be of the same type. Supported types are tinyint, \
                 smallint, int, bigint, decimal and numeric.",
            ));
        }
        let ty = match exact(first) {
            true => self.common(&known)?.unwrap_or(first),
            false => first,
        };
        if args.get(2).and_then(constant_i64) == Some(0) {
            return Err(BindError::new(
                4199,
                16,
                line,
                "Argument value 0 is invalid for argument 3 of generate_series function.",
            ));
        }
        let args = args
            .into_iter()
            .map(|e| match e.is_null_constant() {
                true => Ok(Expr::constant(Value::Null, ty)),
                false => self.coerce(e, ty, CastMode::Implicit),
            })
            .collect::<Result<Vec<Expr>>>()?;
        Ok((args, vec![("value", ty)]))
    }
}

/// Arguments as the function takes them, and its columns.
type BoundCall = (Vec<Expr>, Vec<(&'static str, SqlType)>);
