//! Types by their names: those of the system, and the alias types of a database.
//!
//! A name without a schema means the system's type first. An alias type is what it stands for; only the definition of
//! a column keeps its name.

use catalog::ProcedureDef;
use ir::ObjectName;
use syntax::ast;
use types::{Len, SqlType};

use crate::error::{BindError, Result};
use crate::kept;
use crate::names::{AliasType, Names};

/// A type as written, and the alias type it was if it was one; 2715, 2716.
pub fn named_type(names: &dyn Names, ty: &ast::TypeName) -> Result<(SqlType, Option<AliasType>)> {
    if ty.xml.is_some() {
        return Ok((typed_xml(names, ty)?, None));
    }
    let of_system = ty.schema.as_ref().is_none_or(|s| s.value.eq_ignore_ascii_case("sys"));
    let missing = match of_system {
        true => match system_type(ty, false) {
            Err(e) if e.number == 2715 => Some(e),
            other => return other.map(|ty| (ty, None)),
        },
        false => None,
    };
    let name = ObjectName {
        database: None,
        schema: ty.schema.as_ref().map(|s| s.value.clone()),
        name: ty.name.clone(),
    };
    match names.alias_type(&name) {
        Some(alias) if ty.args.is_empty() => Ok((alias.ty, Some(alias))),
        Some(_) => Err(BindError::new(
            2716,
            16,
            ty.span.line.max(1),
            format!(
                "Column, parameter, or variable #1: Cannot specify a column width on data type {}.",
                ty.name
            ),
        )),
        None => Err(missing.unwrap_or_else(|| not_found(&name.to_string(), ty.span.line.max(1)))),
    }
}

/// xml of a schema collection; 6314, and the type as it is where it names none.
fn typed_xml(names: &dyn Names, ty: &ast::TypeName) -> Result<SqlType> {
    let Some(of) = &ty.xml else { return system_type(ty, false) };
    match names.xml_schemas(&ObjectName::from(&of.collection)) {
        Some(schema) => Ok(SqlType::TypedXml { schema, document: of.document }),
        None => {
            let text =
                format!("Collection specified does not exist in metadata : '{}'", of.collection);
            Err(BindError::new(6314, 16, ty.span.line.max(1), text))
        }
    }
}

/// The same as [`system_type`], and xml of a schema collection.
pub fn system_type_or_xml(names: &dyn Names, ty: &ast::TypeName, in_cast: bool) -> Result<SqlType> {
    if ty.xml.is_some() { typed_xml(names, ty) } else { system_type(ty, in_cast) }
}

/// What an alias type's definition says; `None` for other modules.
pub fn alias_of(def: &ProcedureDef) -> Option<AliasType> {
    if def.kind != catalog::ModuleKind::AliasType {
        return None;
    }
    let ast::StatementKind::CreateType(create) = kept::definition(def)? else { return None };
    let ast::TypeDefinition::Alias { base, nullable } = &create.definition else { return None };
    let ty = system_type(base, false).ok()?;
    let bound = match def.bindings {
        catalog::TypeBindings { rule: Some(_), .. } => Some("rule"),
        catalog::TypeBindings { default: Some(_), .. } => Some("default"),
        _ => None,
    };
    Some(AliasType { id: def.object_id, ty, nullable: nullable.unwrap_or(true), bound })
}

/// Was a table type's definition WITH (MEMORY_OPTIMIZED = ON)?
pub fn is_memory_optimized(def: &ProcedureDef) -> bool {
    def.kind == catalog::ModuleKind::TableType
        && matches!(
            kept::definition_with(def, "MEMORY_OPTIMIZED"),
            Some(ast::StatementKind::CreateType(create)) if asks_for_memory(&create)
        )
}

/// Whether a table type is made WITH (MEMORY_OPTIMIZED = ON).
pub fn asks_for_memory(create: &ast::CreateType) -> bool {
    let on = |o: &ast::DatabaseOption| {
        o.name == "MEMORY_OPTIMIZED" && matches!(o.value, ast::OptionValue::On)
    };
    create.options.iter().any(on)
}

fn not_found(name: &str, line: u32) -> BindError {
    BindError::new(
        2715,
        16,
        line,
        format!("Column, parameter, or variable #1: Cannot find data type {name}."),
    )
    .with_state(3)
}

/// A type of the system as written; 2715 when there is none, 131 and its like when it is too long.
pub fn system_type(ty: &ast::TypeName, in_cast: bool) -> Result<SqlType> {
    let line = ty.span.line.max(1);
    let args: Vec<Len> = ty
        .args
        .iter()
        .map(|arg| match arg {
            ast::TypeArg::Max => Len::Max,
            ast::TypeArg::Number(n) => Len::N(u16::try_from(*n).unwrap_or(u16::MAX)),
        })
        .collect();
    let found = if in_cast {
        SqlType::from_name_in_cast(&ty.name, &args)
    } else {
        SqlType::from_name(&ty.name, &args)
    };
    if let Some(found) = found {
        return Ok(found);
    }
    let exists = SqlType::from_name(&ty.name, &[]).is_some();
    let numeric = matches!(ty.name.as_str(), "decimal" | "numeric" | "dec");
    let timed = matches!(ty.name.as_str(), "datetime2" | "datetimeoffset" | "time");
    let counted = SqlType::from_name(&ty.name, &[Len::N(1)]).is_some();
    Err(match args.as_slice() {
        // 0 is no length and no precision.
        [Len::N(0), ..] if exists && counted && !timed => BindError::new(
            1001,
            15,
            line,
            format!("Line {line}: Length or precision specification 0 is invalid."),
        ),
        [Len::N(n)] if exists && timed => {
            BindError::new(1002, 15, line, format!("Line {line}: Specified scale {n} is invalid."))
        }
        [Len::N(p), Len::N(s)] if exists && numeric && *p <= 38 && s > p => {
            BindError::new(192, 15, line, "The scale must be less than or equal to the precision.")
        }
        [Len::N(n)] if exists && ty.name == "float" => BindError::new(
            2750,
            16,
            line,
            format!(
                "Column or parameter #1: Specified column precision {n} is greater than the maximum precision of 53."
            ),
        ),
        [Len::N(n)] if !in_cast && *n <= 8000 && matches!(&*ty.name, "nvarchar" | "nchar") => {
            let text = format!(
                "The size ({n}) given to the parameter '{}' exceeds the maximum allowed (4000).",
                ty.name
            );
            BindError::new(2717, 16, line, text).with_state(2)
        }
        [Len::N(_)] if in_cast && matches!(ty.name.as_str(), "nvarchar" | "nchar") => {
            let n = match ty.args[0] {
                ast::TypeArg::Number(n) => n,
                ast::TypeArg::Max => 0,
            };
            BindError::new(
                131,
                16,
                line,
                format!(
                    "The size ({n}) given to the convert specification '{}' exceeds the maximum allowed for any data type (4000).",
                    ty.name
                ),
            )
        }
        [] if in_cast && ty.schema.is_none() => {
            BindError::new(243, 16, line, format!("Type {} is not a defined system type.", ty.name))
        }
        [Len::N(n), ..] if exists && *n > 8000 => BindError::new(
            131,
            15,
            line,
            format!(
                "The size ({}) given to the type '{}' exceeds the maximum allowed for any data \
                 type (8000).",
                match ty.args[0] {
                    ast::TypeArg::Number(n) => n,
                    ast::TypeArg::Max => 0,
                },
                ty.name
            ),
        ),
        [Len::N(n), ..] if exists && matches!(ty.name.as_str(), "decimal" | "numeric" | "dec") => {
            BindError::new(
                2750,
                16,
                line,
                format!(
                    "Column or parameter #1: Specified column precision {n} is greater than the \
                     maximum precision of 38."
                ),
            )
        }
        [_, ..] if exists => BindError::new(
            2716,
            16,
            line,
            format!(
                "Column, parameter, or variable #1: Cannot specify a column width on data type {}.",
                ty.name
            ),
        ),
        _ => not_found(&ty.name, line),
    })
}
