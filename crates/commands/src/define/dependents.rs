//! What others are bound to stays as it is: modules WITH SCHEMABINDING to all they name, constraints, defaults and computed
//! columns to the functions and sequences that they call.
//!
//! Errors: 3729 of DROP and ALTER, 4512; whoever changes columns asks here for 4922. Source: SQL documentation, "CREATE VIEW",
//! "CREATE FUNCTION" and "DROP FUNCTION".

use crate::Commands;
use catalog::{ModuleKind, ObjectRef, ProcedureDef, TableDef, same_name};
use executor::SqlError;
use ir::ObjectName;
use syntax::{LexOptions, Mention, MentionKind};

/// An object that others may be bound to.
pub(crate) struct Bound<'a> {
    schema: &'a str,
    name: &'a str,
    /// The name in small letters: most texts are left unread for want of it.
    small: String,
    object_id: i32,
}

impl<'a> Bound<'a> {
    pub fn of(module: &'a ProcedureDef) -> Bound<'a> {
        Bound::new(&module.schema, &module.name, module.object_id)
    }

    pub fn of_table(table: &'a TableDef) -> Bound<'a> {
        Bound::new(&table.schema, &table.name, table.object_id)
    }

    fn new(schema: &'a str, name: &'a str, object_id: i32) -> Bound<'a> {
        Bound { schema, name, small: name.to_lowercase(), object_id }
    }

    fn is_named(&self, mention: &Mention) -> bool {
        let schema = mention.name.schema.as_ref().map_or("dbo", |schema| &schema.value);
        mention.kind != MentionKind::Column
            && same_name(&mention.name.name.value, self.name)
            && same_name(schema, self.schema)
    }

    /// Without reading it: whether a text may name it.
    fn may_be_in(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.small)
    }
}

impl Commands<'_> {
    /// 3729, as `verb` of `shown` says it; 10920 of the function that classifies sessions.
    pub(crate) fn check_dependents(
        &self,
        verb: &str,
        shown: &ObjectName,
        bound: &Bound<'_>,
    ) -> Result<(), SqlError> {
        if bound.object_id == self.host.classifier() && self.state.database.name == "master" {
            let verb = verb.split(' ').next().unwrap_or(verb).to_lowercase();
            let text = format!(
                "Cannot {verb} user-defined function '{}'. It is being used as a resource governor classifier.",
                bound.name
            );
            return Err(SqlError::new(10920, 16, text));
        }
        let Some(user) = self.dependent(bound) else { return Ok(()) };
        let text =
            format!("Cannot {verb} '{shown}' because it is being referenced by object '{user}'.");
        Err(SqlError::new(3729, 16, text))
    }

    /// An object that is bound to it.
    pub(crate) fn dependent(&self, bound: &Bound<'_>) -> Option<Box<str>> {
        let all = self.state.database.catalog.objects_in(self.state.definitions());
        all.into_iter().find_map(|object| match object {
            ObjectRef::Procedure(module) => {
                // A table's triggers go with it.
                let is_own = module.trigger.is_some_and(|t| t.parent == bound.object_id);
                let is_user = module.object_id != bound.object_id
                    && !is_own
                    && bound.may_be_in(&module.text)
                    && schema_bound(&module).iter().any(|mention| bound.is_named(mention));
                is_user.then(|| module.name.clone())
            }
            ObjectRef::Table(table) if table.object_id != bound.object_id => {
                user_in_table(&table, bound)
            }
            ObjectRef::Table(_) => None,
        })
    }

    /// The schema-bound module that a column of the table matters to.
    pub(crate) fn column_dependent(&self, table: &TableDef, column: &str) -> Option<Box<str>> {
        let bound = Bound::of_table(table);
        let all = self.state.database.catalog.objects_in(self.state.definitions());
        all.into_iter().find_map(|object| {
            let ObjectRef::Procedure(module) = object else { return None };
            let is_user = bound.may_be_in(&module.text)
                && names_column(&module, column)
                && schema_bound(&module).iter().any(|mention| bound.is_named(mention));
            is_user.then(|| module.name.clone())
        })
    }
}

impl Commands<'_> {
    /// 2788, 4512: what is bound to something names it by schema and name, and is not itself.
    pub(crate) fn check_schema_binding(
        &self,
        kind: ModuleKind,
        name: &ObjectName,
        text: &str,
    ) -> Result<(), SqlError> {
        let quoted_identifier = self.state.options.quoted_identifier;
        let what = match kind {
            ModuleKind::View => "view",
            kind if kind.is_function() => "function",
            _ => return Ok(()),
        };
        if !semantics::native::text_has_option(text, quoted_identifier, "SCHEMABINDING") {
            return Ok(());
        }
        let mentions = syntax::mentions(text, &LexOptions { quoted_identifier });
        let is_synonym = |mention: &&Mention| {
            let found = self.state.find_own(
                mention.name.schema.as_ref().map(|s| &*s.value),
                &mention.name.name.value,
            );
            mention.kind == MentionKind::Source
                && matches!(found, Some(ObjectRef::Procedure(m)) if m.kind == ModuleKind::Synonym)
        };
        if mentions.iter().any(|mention| is_synonym(&mention)) {
            let text = "Synonyms are invalid in a schemabound object or a constraint expression.";
            return Err(SqlError::new(2788, 16, text));
        }
        let wrong = mentions.iter().find(|mention| {
            matches!(mention.kind, MentionKind::Source | MentionKind::Target)
                && (mention.name.schema.is_none() || mention.name.database.is_some())
        });
        let Some(wrong) = wrong else { return Ok(()) };
        let wrong = &wrong.name;
        let text = format!(
            "Cannot schema bind {what} '{name}' because name '{wrong}' is invalid for schema binding. Names must be in \
             two-part format and an object cannot reference itself."
        );
        Err(SqlError::new(4512, 16, text).with_state(3))
    }
}

/// What a module WITH SCHEMABINDING names; nothing of any other.
fn schema_bound(module: &ProcedureDef) -> Vec<Mention> {
    match semantics::native::has_option(module, "SCHEMABINDING") {
        true => {
            let options = LexOptions { quoted_identifier: module.quoted_identifier };
            syntax::mentions(&module.text, &options)
        }
        false => Vec::new(),
    }
}

/// Whether the text has the column's name as a word of its own.
fn names_column(module: &ProcedureDef, column: &str) -> bool {
    let (text, column) = (module.text.to_lowercase(), column.to_lowercase());
    let is_part = |c: char| c.is_alphanumeric() || "_@#$".contains(c);
    text.match_indices(&column).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + column.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// A constraint or a default that calls it, or the table of a computed column that does.
fn user_in_table(table: &TableDef, bound: &Bound<'_>) -> Option<Box<str>> {
    let calls = |text: &str| {
        bound.may_be_in(text)
            && syntax::expression_mentions(text, &LexOptions::default())
                .iter()
                .any(|mention| bound.is_named(mention))
    };
    let check = table.checks.iter().find(|check| calls(&check.text)).map(|c| c.name.clone());
    check.or_else(|| {
        table.columns.iter().find_map(|column| {
            let default = column.default.as_ref().filter(|default| calls(&default.text));
            let computed = column.computed.as_ref().filter(|computed| calls(&computed.text));
            default.map(|d| d.name.clone()).or_else(|| computed.map(|_| table.name.clone()))
        })
    })
}
