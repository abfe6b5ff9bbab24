//! WHERE of an audit: which records it takes.
//!
//! Texts are compared without regard to case, as events' predicates do it. A comparison with what is NULL is false, and
//! its NOT is true: there is no third value.

use audit::{Record, Shown};
use executor::SqlError;
use std::cmp::Ordering;
use syntax::ast::{
    AuditOperator, AuditPredicate, AuditStatement, AuditValue, RareStatement, StatementKind,
};

/// Characters that the text of one may have.
const CHARACTERS_MAX: usize = 3000;

/// Whether a record is taken.
pub(super) fn holds(predicate: &AuditPredicate, record: &Record) -> bool {
    match predicate {
        AuditPredicate::Not(inner) => !holds(inner, record),
        AuditPredicate::And(all) => all.iter().all(|inner| holds(inner, record)),
        AuditPredicate::Or(all) => all.iter().any(|inner| holds(inner, record)),
        AuditPredicate::Compare { field, operator, value } => {
            let order = match (record.shown(&field.value.to_lowercase()), value) {
                (Some(Shown::Number(own)), AuditValue::Number(other)) => own.cmp(other),
                (Some(Shown::Text(own)), AuditValue::Text(other)) => {
                    own.to_lowercase().cmp(&other.to_lowercase())
                }
                _ => return false,
            };
            match operator {
                AuditOperator::Equal => order == Ordering::Equal,
                AuditOperator::NotEqual => order != Ordering::Equal,
                AuditOperator::Greater => order == Ordering::Greater,
                AuditOperator::GreaterOrEqual => order != Ordering::Less,
                AuditOperator::Less => order == Ordering::Less,
                AuditOperator::LessOrEqual => order != Ordering::Greater,
            }
        }
    }
}

/// Its text as it is kept; 25713 where a field is none, or of another type than its value.
pub(crate) fn checked(predicate: &AuditPredicate) -> Result<String, SqlError> {
    check(predicate, &Record::new(b"    ", b"  "))?;
    let text = format!("({predicate})");
    if text.chars().count() > CHARACTERS_MAX {
        return Err(SqlError::unsupported(
            "CREATE SERVER AUDIT with a WHERE of more than 3,000 characters",
        ));
    }
    // The text has more parentheses than was written. Without its predicate the audit would take everything.
    if read(&text).is_none() {
        return Err(SqlError::unsupported(
            "CREATE SERVER AUDIT with a WHERE that is nested so deep",
        ));
    }
    Ok(text)
}

fn check(predicate: &AuditPredicate, sample: &Record) -> Result<(), SqlError> {
    match predicate {
        AuditPredicate::Not(inner) => check(inner, sample),
        AuditPredicate::And(all) | AuditPredicate::Or(all) => {
            all.iter().try_for_each(|inner| check(inner, sample))
        }
        AuditPredicate::Compare { field, value, .. } => {
            let fits = matches!(
                (sample.shown(&field.value.to_lowercase()), value),
                (Some(Shown::Number(_)), AuditValue::Number(_))
                    | (Some(Shown::Null | Shown::Text(_)), AuditValue::Text(_))
            );
            if fits {
                return Ok(());
            }
            let text = format!(
                "The value specified for event attribute or predicate source, \"{}\", event, \"audit_event\", is invalid.",
                field.value
            );
            Err(SqlError::new(25713, 16, text))
        }
    }
}

/// From the text that [`checked`] has made.
pub(crate) fn read(text: &str) -> Option<AuditPredicate> {
    let statement = format!("CREATE SERVER AUDIT a TO FILE (FILEPATH = '') WHERE {text}");
    let mut batch = syntax::parse_batch(&statement, &syntax::LexOptions::default()).ok()?;
    let StatementKind::Rare(rare) = batch.statements.pop()?.kind else { return None };
    match *rare {
        RareStatement::Audit(AuditStatement::Create { predicate, .. }) => predicate,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predicate_is_read_as_it_was_kept() {
        let check = |text: &str, kept: &str, expected: bool| {
            let read_once = read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(checked(&read_once).unwrap(), kept);
            assert_eq!(checked(&read(kept).unwrap()).unwrap(), kept);
            let record = Record {
                object_name: Some("It's".into()),
                session_id: 51,
                ..Record::new(b"CR  ", b"U ")
            };
            assert_eq!(holds(&read_once, &record), expected, "{text}");
        };
        check("object_name = 'IT''S'", "([object_name]='IT''S')", true);
        check("NOT session_id > 50", "(NOT ([session_id]>(50)))", false);
        check(
            "session_id = 51 AND (succeeded = 0 OR [class_type] = 8277)",
            "([session_id]=(51) AND ([succeeded]=(0) OR [class_type]=(8277)))",
            true,
        );
        check("schema_name <> N'dbo'", "([schema_name]<>'dbo')", false);
        check("NOT schema_name = 'dbo'", "(NOT ([schema_name]='dbo'))", true);
        let deep = read(&format!("{}session_id = 1", "NOT ".repeat(200))).unwrap();
        assert!(checked(&deep).unwrap_err().text.contains("nested"));
        for wrong in ["file_name = 'x'", "session_id = 'x'", "object_name = 5", "nothing = 1"] {
            let error = checked(&read(wrong).unwrap()).unwrap_err();
            assert_eq!(error.number, 25713, "{wrong}");
        }
    }
}
