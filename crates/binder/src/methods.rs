//! Methods of types: who is asked, and those of the CLR's types; xml's own are in [`crate::xml`].
//!
//! A method of a type of the CLR is a row ([`types::clr::METHODS`]) and becomes a call of [`FuncId::Clr`], whose arguments
//! have the kinds that the row tells; so does a property, and a SET of one. Errors: 174, 243, 258, 6506, 6573, 6574, 6592,
//! 6595. Sources: SQL documentation, "hierarchyid data type method reference", "geometry data type method reference",
//! "Invoking CLR user-defined types" (methods, static methods, properties, case of letters).

use ir::*;
use syntax::ast;
use types::clr::{self, ASSEMBLY, Kind, MethodId};
use types::{ClrType, Len, SqlType};

use crate::context::*;
use semantics::{BindError, Result};

/// What a method is asked of.
pub(crate) struct Receiver {
    pub value: Expr,
    /// `table.column.` where it is a column.
    pub place: String,
}

/// The words of xml, which a column of another type may not be asked.
const OF_XML: &[&str] = &["value", "query", "exist", "nodes", "modify"];

impl Binder<'_> {
    /// A call named `.value` and its like, a method of its first argument; or `type::Method`.
    #[inline(never)]
    pub(crate) fn method(&mut self, f: &ast::FunctionCall, line: u32) -> Result<Expr> {
        let name = &f.name.name.value;
        if let Some((ty, method)) = name.split_once("::") {
            return self.static_method(f, ty, method, line);
        }
        let name = &name[1..];
        if let (Some(property), [of]) = (name.strip_prefix('='), f.args.as_slice()) {
            let receiver = self.receiver(of)?;
            return self.property_of(receiver.value, property, line);
        }
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

    /// What `SET c.method(...)` of an UPDATE makes of the column that it sets; `name` is `set method`.
    pub(crate) fn change_of_column(
        &mut self,
        value: Expr,
        (table, column): (&str, &str),
        name: &str,
        args: &[ast::Expr],
        line: u32,
    ) -> Result<Expr> {
        let place = format!("{table}.{column}.");
        self.method_of(Receiver { value, place }, name, args, line)
    }

    fn method_of(
        &mut self,
        receiver: Receiver,
        name: &str,
        args: &[ast::Expr],
        line: u32,
    ) -> Result<Expr> {
        let SqlType::Clr(ty) = receiver.value.ty else {
            if name.starts_with("set ") && name != "set modify" {
                return Err(no_methods(receiver.value.ty, line));
            }
            return self.xml_method(receiver, name, args, line);
        };
        if let Some(property) = name.strip_prefix("set ") {
            return self.with_property(ty, receiver.value, property, args, line);
        }
        if ty.is_spatial() && MethodId::property(ty, name).is_some() {
            return Err(no_property(ty, name, line));
        }
        let id = find(ty, name, line)?;
        if id.row().is_static {
            return Err(misplaced(6574, ty, name, "static", line));
        }
        self.call_of(id, Some(receiver.value), args, line)
    }

    fn static_method(
        &mut self,
        f: &ast::FunctionCall,
        ty: &str,
        name: &str,
        line: u32,
    ) -> Result<Expr> {
        let args = &f.args;
        let Some(ty) = ClrType::from_name(ty) else {
            let text = format!("Type {ty} is not a defined system type.");
            return Err(BindError::new(243, 16, line, text));
        };
        if let Some(aggregate) = clr::Aggregate::find(ty, name) {
            return self.aggregate(f, AggFunc::Clr(ty, aggregate), line);
        }
        if let Some(name) = name.strip_prefix('=') {
            let id = MethodId::property(ty, name).ok_or_else(|| no_property(ty, name, line))?;
            if !id.row().is_static {
                return Err(misplaced(6573, ty, name, "not static", line));
            }
            return self.call_of(id, None, args, line);
        }
        let id = find(ty, name, line)?;
        if !id.row().is_static {
            return Err(misplaced(6573, ty, name, "not static", line));
        }
        self.call_of(id, None, args, line)
    }

    /// `c.Lat`, `t.c.Lat`: a property of a column, written as a column is. `None` where no such column has any.
    #[inline(never)]
    pub(crate) fn property_of_column(
        &mut self,
        c: &ast::ColumnRef,
        line: u32,
    ) -> Result<Option<Expr>> {
        let Some((column, qualifier)) = c.qualifier.split_last() else { return Ok(None) };
        let column = ast::ColumnRef { qualifier: qualifier.to_vec(), name: column.clone() };
        let Ok(found) = self.column(&column, line) else { return Ok(None) };
        if !matches!(found.ty, SqlType::Clr(_)) {
            return Ok(None);
        }
        let value = self.column_value(&found);
        self.property_of(value, &c.name.value, line).map(Some)
    }

    /// 258, 6574, 6592.
    fn property_of(&mut self, value: Expr, name: &str, line: u32) -> Result<Expr> {
        let SqlType::Clr(ty) = value.ty else { return Err(no_methods(value.ty, line)) };
        let id = MethodId::property(ty, name).ok_or_else(|| no_property(ty, name, line))?;
        if id.row().is_static {
            return Err(misplaced(6574, ty, name, "static", line));
        }
        self.call_of(id, Some(value), &[], line)
    }

    /// The value with a property set. 6592, 6595.
    fn with_property(
        &mut self,
        ty: ClrType,
        value: Expr,
        name: &str,
        args: &[ast::Expr],
        line: u32,
    ) -> Result<Expr> {
        match MethodId::setter(ty, name) {
            Some(id) => self.call_of(id, Some(value), args, line),
            None if MethodId::property(ty, name).is_some() => {
                let class = ty.class();
                let text = format!(
                    "Could not assign to property '{name}' for type '{class}' in assembly '{}' because it is read only.",
                    assembly()
                );
                Err(BindError::new(6595, 16, line, text))
            }
            None => Err(no_property(ty, name, line)),
        }
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
            all.push(self.coerce(arg, sql_type(*kind, row.owner), CastMode::Implicit)?);
        }
        let kind = ExprKind::Func { func: FuncId::Clr(id), args: all };
        Ok(Expr::new(kind, sql_type(row.gives, row.owner), true))
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
        let value = self.column_value(&found);
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
fn sql_type(kind: Kind, owner: ClrType) -> SqlType {
    match kind {
        Kind::Bit => SqlType::Bit,
        Kind::Small => SqlType::SmallInt,
        Kind::Int => SqlType::Int,
        Kind::Float => SqlType::Float,
        Kind::Text => SqlType::NVarChar(Len::N(4000)),
        Kind::LongText => SqlType::NVarChar(Len::Max),
        Kind::LongBytes => SqlType::VarBinary(Len::Max),
        Kind::Own => SqlType::Clr(owner),
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

/// 258.
fn no_methods(ty: SqlType, line: u32) -> BindError {
    BindError::new(258, 15, line, format!("Cannot call methods on {}.", ty.message_name()))
}

/// 6592.
fn no_property(ty: ClrType, name: &str, line: u32) -> BindError {
    let class = ty.class();
    let text = format!(
        "Could not find property or field '{name}' for type '{class}' in assembly '{}'.",
        assembly()
    );
    BindError::new(6592, 16, line, text).with_state(3)
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
