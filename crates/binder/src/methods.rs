//! Methods of types: who is asked, and those of the CLR's types; xml's own are in [`crate::xml`].
//!
//! A method of a type of the CLR is a row ([`types::clr::METHODS`]) and becomes a call of [`FuncId::Clr`], whose arguments
//! have the kinds that the row tells. Errors: 174, 243, 258, 6506, 6573, 6574. Sources: SQL documentation, "hierarchyid
//! data type method reference", "Invoking CLR user-defined types" (methods, static methods, case of letters).

use syntax::ast;
use types::clr::{ASSEMBLY, Kind, MethodId};
use types::{ClrType, Len, SqlType};

use crate::context::*;
use crate::error::{BindError, Result};
use crate::ir::*;

/// What a method is asked of.
pub(crate) struct Receiver {
    pub value: Expr,
    /// `table.column.` where it is a column.
    pub place: String,
}

/// The words of xml, which a column of another type may not be asked.
const OF_XML: &[&str] = &["value", "query", "exist", "nodes", "modify"];

/// Types of SQL Server that are not here.
const NOT_YET: &[&str] = &["geometry", "geography"];

impl Binder<'_> {
    /// A call named `.value` and its like, a method of its first argument; or `type::Method`.
    #[inline(never)]
    pub(crate) fn method(&mut self, f: &ast::FunctionCall, line: u32) -> Result<Expr> {
        let name = &f.name.name.value;
        if let Some((ty, method)) = name.split_once("::") {
            return self.static_method(ty, method, &f.args, line);
        }
        let name = &name[1..];
        let Some((of, args)) = f.args.split_first() else {
            return Err(BindError::new(102, 15, line, format!("Incorrect syntax near '{name}'.")));
        };
        let receiver = self.receiver(of)?;
        self.method_of(receiver, name, args, line)
    }

    /// `c.value(...)`, `t.c.value(...)`: a method of a column, written as a function is. `None` where there is no such
    /// column.
    #[inline(never)]
    pub(crate) fn method_of_column(
        &mut self,
        f: &ast::FunctionCall,
        line: u32,
    ) -> Result<Option<Expr>> {
        let name = &f.name.name.value;
        let Some(receiver) = self.column_receiver(&f.name, line)? else { return Ok(None) };
        let of_clr = matches!(receiver.value.ty, SqlType::Clr(_));
        if !of_clr && !OF_XML.contains(&name.as_str()) {
            return Ok(None);
        }
        self.method_of(receiver, name, &f.args, line).map(Some)
    }

    fn method_of(
        &mut self,
        receiver: Receiver,
        name: &str,
        args: &[ast::Expr],
        line: u32,
    ) -> Result<Expr> {
        let SqlType::Clr(ty) = receiver.value.ty else {
            return self.xml_method(receiver, name, args, line);
        };
        let id = find(ty, name, line)?;
        if id.row().is_static {
            return Err(misplaced(6574, ty, name, "static", line));
        }
        self.call_of(id, Some(receiver.value), args, line)
    }

    fn static_method(
        &mut self,
        ty: &str,
        name: &str,
        args: &[ast::Expr],
        line: u32,
    ) -> Result<Expr> {
        let Some(ty) = ClrType::from_name(ty) else {
            if NOT_YET.iter().any(|name| ty.eq_ignore_ascii_case(name)) {
                return Err(BindError::unsupported(format!("type {}", ty.to_lowercase()), line));
            }
            let text = format!("Type {ty} is not a defined system type.");
            return Err(BindError::new(243, 16, line, text));
        };
        let id = find(ty, name, line)?;
        if !id.row().is_static {
            return Err(misplaced(6573, ty, name, "not static", line));
        }
        self.call_of(id, None, args, line)
    }

    fn call_of(
        &mut self,
        id: MethodId,
        of: Option<Expr>,
        args: &[ast::Expr],
        line: u32,
    ) -> Result<Expr> {
        let row = id.row();
        if args.len() != row.takes.len() {
            let text =
                format!("The {} function requires {} argument(s).", row.name, row.takes.len());
            return Err(BindError::new(174, 15, line, text));
        }
        let mut all: Vec<Expr> = of.into_iter().collect();
        for (arg, kind) in args.iter().zip(row.takes) {
            let arg = self.expr(arg)?;
            all.push(self.coerce(arg, sql_type(*kind), CastMode::Implicit)?);
        }
        let kind = ExprKind::Func { func: FuncId::Clr(id), args: all };
        Ok(Expr::new(kind, sql_type(row.gives), true))
    }

    /// The value that a method is asked of.
    pub(crate) fn receiver(&mut self, of: &ast::Expr) -> Result<Receiver> {
        let place = match &of.kind {
            ast::ExprKind::Column(c) => self.place_of_column(c),
            _ => String::new(),
        };
        Ok(Receiver { value: self.node_or_value(of)?, place })
    }

    /// The column that a function's name is made of, but for its last part.
    pub(crate) fn column_receiver(
        &mut self,
        name: &ast::ObjectName,
        line: u32,
    ) -> Result<Option<Receiver>> {
        let Some(column) = &name.schema else { return Ok(None) };
        let parts = [&name.server, &name.database];
        let qualifier = parts.into_iter().flatten().cloned().collect();
        let column = ast::ColumnRef { qualifier, name: column.clone() };
        let Ok(found) = self.column(&column, line) else { return Ok(None) };
        let value = Expr::col(found.id, found.ty, found.nullable);
        Ok(Some(Receiver { value, place: self.place_of_column(&column) }))
    }

    /// `table.column.`
    fn place_of_column(&self, c: &ast::ColumnRef) -> String {
        let table = match c.qualifier.last() {
            Some(table) => Some(table.value.clone()),
            None => {
                let tables = self.scopes.iter().rev().flat_map(|s| &s.tables);
                let has = |t: &&ScopeTable| {
                    let mut names = t.columns.iter().filter_map(|k| k.name.as_deref());
                    names.any(|n| catalog::same_name(n, &c.name.value))
                };
                tables.into_iter().find(has).map(|t| t.name.clone())
            }
        };
        table.map_or_else(|| format!("{}.", c.name.value), |t| format!("{t}.{}.", c.name.value))
    }
}

/// The type of SQL that an argument or a result has.
fn sql_type(kind: Kind) -> SqlType {
    match kind {
        Kind::Bit => SqlType::Bit,
        Kind::Small => SqlType::SmallInt,
        Kind::Int => SqlType::Int,
        Kind::Text => SqlType::NVarChar(Len::N(4000)),
        Kind::Clr(ty) => SqlType::Clr(ty),
    }
}

/// 6506, letters in another case too.
fn find(ty: ClrType, name: &str, line: u32) -> Result<MethodId> {
    MethodId::find(ty, name).ok_or_else(|| {
        let class = ty.class();
        let text = format!(
            "Could not find method '{name}' for type '{class}' in assembly '{}'",
            assembly()
        );
        BindError::new(6506, 16, line, text).with_state(10)
    })
}

/// 6573, 6574.
fn misplaced(number: i32, ty: ClrType, name: &str, what: &str, line: u32) -> BindError {
    let class = ty.class();
    let text = format!(
        "Method, property or field '{name}' of class '{class}' in assembly '{}' is {what}.",
        assembly()
    );
    BindError::new(number, 16, line, text)
}

/// The assembly's name without its version.
fn assembly() -> &'static str {
    ASSEMBLY.split_once(',').map_or(ASSEMBLY, |(name, _)| name)
}
