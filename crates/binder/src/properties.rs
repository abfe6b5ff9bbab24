//! Functions that give a property by name: SERVERPROPERTY, DATABASEPROPERTYEX, SQL_VARIANT_PROPERTY and their like.
//!
//! Their type is sql_variant. A property named by a constant has the base type that the documentation tells; any other
//! is text.

use ir::*;
use types::{Len, SqlType, Value};

use crate::context::Binder;
use semantics::properties::{base_type, constant_text};
use semantics::typing::{arity, call};
use semantics::{BindError, Result};

const NAME: SqlType = SqlType::NVarChar(Len::N(128));
const INT: SqlType = SqlType::Int;

impl Binder<'_> {
    /// A property function; `None` when it is none.
    pub fn property(&mut self, name: &str, args: &[Expr], line: u32) -> Result<Option<Expr>> {
        let (func, count) = match name {
            "SERVERPROPERTY" => (FuncId::ServerProperty, 1),
            "DATABASEPROPERTYEX" | "DATABASEPROPERTY" => (FuncId::DatabasePropertyEx, 2),
            "COLLATIONPROPERTY" => (FuncId::CollationProperty, 2),
            "OBJECTPROPERTYEX" => (FuncId::ObjectPropertyEx, 2),
            "SQL_VARIANT_PROPERTY" => return self.variant_property(args, line).map(Some),
            "FULLTEXTSERVICEPROPERTY" => return self.full_text_property(args, line).map(Some),
            _ => return Ok(None),
        };
        arity(name, args.len(), count, count, line)?;
        let mut bound = Vec::with_capacity(count);
        for (i, arg) in args.iter().enumerate() {
            let ty = if func == FuncId::ObjectPropertyEx && i == 0 { INT } else { NAME };
            bound.push(self.coerce(arg.clone(), ty, CastMode::Implicit)?);
        }
        let property = args.last().and_then(constant_text).map(|p| p.trim().to_lowercase());
        let ty = match &property {
            _ if name == "DATABASEPROPERTY" => INT,
            Some(property) => base_type(func, property),
            None => NAME,
        };
        let text = call(func, bound, NAME);
        if matches!((func, &property), (FuncId::CollationProperty, Some(p)) if p == "tdscollation")
        {
            let bytes =
                semantics::typing::cast(text, SqlType::Binary(5), CastMode::Explicit, Some(1));
            return self.coerce(bytes, SqlType::Variant, CastMode::Implicit).map(Some);
        }
        let found = if ty == NAME { text } else { self.coerce(text, ty, CastMode::Implicit)? };
        if name == "DATABASEPROPERTY" {
            return Ok(Some(found));
        }
        self.coerce(found, SqlType::Variant, CastMode::Implicit).map(Some)
    }

    /// FULLTEXTSERVICEPROPERTY: the component is installed, and has no settings.
    fn full_text_property(&mut self, args: &[Expr], line: u32) -> Result<Expr> {
        arity("FULLTEXTSERVICEPROPERTY", args.len(), 1, 1, line)?;
        let Some(property) = constant_text(&args[0]) else {
            let what = "FULLTEXTSERVICEPROPERTY of a property that is not a constant";
            return Err(BindError::unsupported(what, line));
        };
        let property = property.trim_end().to_lowercase();
        let known = matches!(
            property.as_str(),
            "isfulltextinstalled"
                | "loadosresources"
                | "verifysignature"
                | "resourceusage"
                | "connecttimeout"
                | "datatimeout"
        );
        let value = i32::from(property == "isfulltextinstalled");
        Ok(Expr::constant(if known { Value::Int(value) } else { Value::Null }, INT))
    }

    /// What is known of an expression's type before it has a value.
    fn variant_property(&mut self, args: &[Expr], line: u32) -> Result<Expr> {
        arity("SQL_VARIANT_PROPERTY", args.len(), 2, 2, line)?;
        let Some(property) = constant_text(&args[1]) else {
            return Err(BindError::unsupported(
                "SQL_VARIANT_PROPERTY of a property that is not a constant",
                line,
            ));
        };
        let ty = args[0].ty;
        let out = match property.trim().to_lowercase().as_str() {
            "precision" | "scale" | "maxlength" | "totalbytes" => INT,
            _ => NAME,
        };
        if ty == SqlType::Variant {
            let property = Expr::constant(Value::str(property), NAME);
            let found = call(FuncId::VariantProperty, vec![args[0].clone(), property], out);
            return Ok(Expr { nullable: true, ..found });
        }
        if !types::Variant::may_hold(ty) {
            let e = types::TypeError::TypeClash {
                from: ty.to_string().into(),
                to: SqlType::Variant.name().into(),
            };
            return Err(BindError::of_type(e, line));
        }
        let value = match property.trim().eq_ignore_ascii_case("collation") && ty.is_character() {
            true => Value::str(&self.collation_of(&args[0]).name()),
            false => types::variant::property(ty, None, property),
        };
        let null = Expr::constant(Value::Null, out);
        if value.is_null() {
            return Ok(null);
        }
        let answer = Expr::constant(value, out);
        let when = Expr::is_null(args[0].clone(), false);
        Ok(Expr { nullable: true, ..self.make_case(vec![(when, null)], Some(answer))? })
    }
}
