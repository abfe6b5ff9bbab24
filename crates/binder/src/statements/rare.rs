//! Statements that are seldom met, bound.

use ir::*;
use syntax::ast::{self, RareStatement};
use types::SqlType;

use super::TEXT;
use crate::context::Binder;
use semantics::{BindError, Result};

pub(super) fn bind(b: &mut Binder<'_>, rare: &RareStatement) -> Result<Rare> {
    Ok(match rare {
        RareStatement::InsertBulk(_) => Rare::InsertBulk,
        RareStatement::BeginDistributed => Rare::BeginDistributed,
        RareStatement::LineNumber(_) => Rare::Nothing,
        RareStatement::SetUser { name, no_reset } => {
            let name = match name {
                None => None,
                Some(name) => {
                    let name = b.expr(name)?;
                    Some(b.coerce(name, TEXT, CastMode::Implicit)?)
                }
            };
            Rare::SetUser { name, no_reset: *no_reset }
        }
        RareStatement::Governor(statement) => Rare::Governor(statement.clone()),
        RareStatement::Audit(statement) => Rare::Audit(audit(b, statement)?),
        RareStatement::XmlSchema(statement) => xml_schema(b, statement)?,
        RareStatement::Fulltext(statement) => Rare::Fulltext(statement.clone()),
        RareStatement::Sensitivity(statement) => Rare::Sensitivity(statement.clone()),
        RareStatement::Shutdown { no_wait } => Rare::Shutdown { no_wait: *no_wait },
    })
}

/// To the language a group is a word of it: 102 near one that is none, or not one of databases.
fn audit(b: &Binder<'_>, statement: &ast::AuditStatement) -> Result<ast::AuditStatement> {
    let ast::AuditStatement::Specification(specification) = statement else {
        return Ok(statement.clone());
    };
    let groups: Vec<&ast::Ident> = match &specification.change {
        ast::SpecificationChange::Create { groups, .. } => groups.iter().collect(),
        ast::SpecificationChange::Alter { groups, .. } => groups.iter().map(|(_, g)| g).collect(),
        ast::SpecificationChange::Drop => Vec::new(),
    };
    for group in groups {
        let found = audit::group_named(&group.value);
        let fits = |facts: &&audit::GroupFacts| {
            !specification.of_database || facts.scope == audit::GroupScope::Both
        };
        if found.filter(fits).is_none() {
            let text = format!("Incorrect syntax near '{}'.", group.value);
            return Err(BindError::new(102, 15, b.line, text));
        }
    }
    Ok(statement.clone())
}

/// 6302: the schemas are a text or a variable, of a type that becomes an xml; 6352 of a typed one.
fn xml_schema(b: &mut Binder<'_>, statement: &ast::XmlSchemaStatement) -> Result<Rare> {
    let (add, name, text) = match statement {
        ast::XmlSchemaStatement::Create { name, text } => (false, name, text),
        ast::XmlSchemaStatement::Add { name, text } => (true, name, text),
        ast::XmlSchemaStatement::Drop { name } => {
            return Ok(Rare::DropXmlSchemas(ObjectName::from(name)));
        }
    };
    let text = b.expr(text)?;
    let fits = text.ty.is_character() || text.ty.is_binary() || text.ty == SqlType::Xml;
    if !fits && !text.is_null_constant() {
        return Err(b.error(
            6352,
            "Invalid parameter specified. XML Schema Collections can only be created from a string literal, or from a variable \
             typed as a string or untyped XML.",
        ));
    }
    let text = b.coerce(text, SqlType::Xml, CastMode::Implicit)?;
    Ok(Rare::PutXmlSchemas { add, name: ObjectName::from(name), text })
}

/// The variable of a cookie: a varbinary; 15533.
pub(super) fn cookie(b: &Binder<'_>, v: &ast::Variable, statement: &str) -> Result<VarId> {
    let var = b.variable(v)?;
    match b.frame.ty(var) {
        SqlType::VarBinary(_) => Ok(var),
        _ => Err(no_cookie(statement, b.line)),
    }
}

/// 15533.
pub(super) fn no_cookie(statement: &str, line: u32) -> BindError {
    let text = format!("Invalid data type is supplied in the '{statement}' statement.");
    BindError::new(15533, 16, line, text).with_state(2)
}

/// An INSERT BULK is a batch of its own: rows follow it. 428.
pub(super) fn check_bulk_alone(statements: &[ast::Statement]) -> Result<()> {
    let bulk = statements.iter().find(|s| match &s.kind {
        ast::StatementKind::Rare(rare) => matches!(**rare, RareStatement::InsertBulk(_)),
        _ => false,
    });
    bulk.map_or(Ok(()), |bulk| {
        let text = "Insert bulk cannot be used in a multi-statement batch.";
        Err(BindError::new(428, 16, bulk.span.line.max(1), text))
    })
}
