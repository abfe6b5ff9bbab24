//! Sequences and synonyms: their definitions, and sp_sequence_get_range.

use crate::Commands;
use crate::procedures::Argument;
use crate::procedures::arguments;
use catalog::{ModuleKind, PutMode, SequenceDef};
use executor::SqlError;
use ir::ObjectName;
use session_state::number_as;
use syntax::ast::{CreateSynonym, DefineSequence};
use types::{SqlType, Value, convert};

impl Commands<'_> {
    /// CREATE and ALTER SEQUENCE: 11700 to 11708, 2714, 208.
    pub fn define_sequence(
        &mut self,
        sequence: &DefineSequence,
        ty: SqlType,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let name = ObjectName::from(&sequence.name);
        self.local(&name)?;
        let kind = ModuleKind::Sequence;
        let schema = self.schema_of(&name);
        let def = match sequence.alter {
            false => created(sequence, ty)?,
            true => {
                let scope = self.state.definitions();
                let catalog = &self.state.database.catalog;
                let found = catalog.module(scope, schema.as_deref(), &name.name, kind);
                let found = found.and_then(|f| f.sequence.clone().map(|def| (f, def)));
                let Some((module, old)) = found else {
                    return Err(SqlError::new(
                        208,
                        16,
                        format!("Invalid object name '{}'.", sequence.name),
                    ));
                };
                let given = catalog.given_in_sequence(&module);
                altered(sequence, old, given)?
            }
        };
        let mode = if sequence.alter { PutMode::Alter } else { PutMode::Create };
        self.create_module(kind, mode, &name, &def.to_text(), frame)
    }

    /// CREATE SYNONYM: 2714.
    pub fn create_synonym(
        &mut self,
        synonym: &CreateSynonym,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let text = synonym.base.to_text();
        let name = ObjectName::from(&synonym.name);
        self.create_module(ModuleKind::Synonym, PutMode::Create, &name, &text, frame)
    }

    /// sp_sequence_get_range: 208, 11732.
    pub fn sequence_range(
        &mut self,
        args: &[Argument],
        vars: &[SqlType],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        const PROCEDURE: &str = "sp_sequence_get_range";
        let text = arguments::needed(PROCEDURE, args, 0, "@sequence_name")?;
        let size = arguments::value(args, 1, "@range_size").and_then(Value::as_i64);
        let size = size.ok_or_else(|| arguments::missing(PROCEDURE, "@range_size"))?;
        let mut parts = session_state::name_parts(text).into_iter().rev();
        let bare = parts.next().unwrap_or_default();
        let schema = parts.next().filter(|s| !s.is_empty());
        let scope = self.state.definitions();
        let catalog = &self.state.database.catalog;
        let found = catalog.module(scope, schema.as_deref(), &bare, ModuleKind::Sequence);
        let found = found.and_then(|f| f.sequence.clone().map(|def| (f, def)));
        let Some((module, def)) = found else {
            return Err(SqlError::new(208, 16, format!("Invalid object name '{text}'.")));
        };
        if size < 1 {
            return Err(SqlError::new(
                11731,
                16,
                "The specified range size is not valid: it must be greater than 0.",
            ));
        }
        let ty = def.sql_type().unwrap_or(SqlType::BigInt);
        let (first, last) = catalog.next_in_sequence(&module, size as u64).map_err(|e| {
            let e = SqlError::from(e);
            if e.number != 11728 {
                return e;
            }
            SqlError::new(
                11732,
                16,
                format!(
                    "The requested range for sequence object '{text}' exceeds the maximum or minimum limit. Retry with \
                     a smaller range."
                ),
            )
        })?;
        let outputs = [
            (2, "@range_first_value", first),
            (3, "@range_last_value", last),
            (5, "@sequence_increment", def.increment),
            (6, "@sequence_min_value", def.minimum),
            (7, "@sequence_max_value", def.maximum),
        ];
        if let Some(var) = arguments::given(args, 4, "@range_cycle_count").and_then(|a| a.output) {
            let to = vars[var as usize];
            let count = Value::BigInt(i64::try_from(cycles(&def, first, size)).unwrap_or(i64::MAX));
            frame[var as usize] = convert::cast(&count, SqlType::BigInt, to, 0)?;
        }
        for (i, name, number) in outputs {
            if let Some(var) = arguments::given(args, i, name).and_then(|a| a.output) {
                let value = number_as(number, ty)?;
                let to = vars[var as usize];
                frame[var as usize] = convert::cast(&value, ty, to, 0)?;
            }
        }
        Ok(())
    }
}

/// How often a range of `size` numbers from `first` on begins anew.
fn cycles(def: &SequenceDef, first: i128, size: i64) -> i128 {
    let step = def.increment.abs().max(1);
    let left = match def.increment > 0 {
        true => def.maximum - first,
        false => first - def.minimum,
    };
    let (left, round) = (left / step + 1, (def.maximum - def.minimum) / step + 1);
    match i128::from(size) - left {
        beyond if beyond > 0 => 1 + (beyond - 1) / round,
        _ => 0,
    }
}

/// The numbers that a type holds.
fn bounds(ty: SqlType) -> Option<(i128, i128)> {
    Some(match ty {
        SqlType::TinyInt => (0, 255),
        SqlType::SmallInt => (i16::MIN.into(), i16::MAX.into()),
        SqlType::Int => (i32::MIN.into(), i32::MAX.into()),
        SqlType::BigInt => (i64::MIN.into(), i64::MAX.into()),
        SqlType::Decimal { precision, scale: 0, .. } => {
            let most = 10i128.checked_pow(u32::from(precision))? - 1;
            (-most, most)
        }
        _ => return None,
    })
}

fn created(sequence: &DefineSequence, ty: SqlType) -> Result<SequenceDef, SqlError> {
    let name = &sequence.name;
    let Some((least, most)) = bounds(ty) else {
        return Err(SqlError::new(
            11702,
            16,
            format!(
                "The sequence object '{name}' must be of data type int, bigint, smallint, tinyint, or decimal or numeric \
                 with a scale of 0, or any user-defined data type that is based on one of the above integer data types."
            ),
        ));
    };
    let increment = sequence.increment.unwrap_or(1);
    let minimum = sequence.minimum.flatten().unwrap_or(least);
    let maximum = sequence.maximum.flatten().unwrap_or(most);
    let start = sequence.start.unwrap_or(if increment > 0 { minimum } else { maximum });
    let def = SequenceDef {
        ty: SequenceDef::type_numbers(ty),
        original: start,
        start,
        increment,
        minimum,
        maximum,
        cycle: sequence.cycle.unwrap_or(false),
        cache: cache_of(sequence).flatten(),
        generation: 1,
    };
    check(&def, sequence, (least, most))?;
    Ok(def)
}

/// The same sequence, changed; `given`: how many numbers it has given.
fn altered(
    sequence: &DefineSequence,
    old: SequenceDef,
    given: i128,
) -> Result<SequenceDef, SqlError> {
    let ty = old.sql_type().unwrap_or(SqlType::BigInt);
    let limits = bounds(ty).unwrap_or((i64::MIN.into(), i64::MAX.into()));
    let mut def = old.clone();
    def.increment = sequence.increment.unwrap_or(old.increment);
    def.minimum = sequence.minimum.map_or(old.minimum, |m| m.unwrap_or(limits.0));
    def.maximum = sequence.maximum.map_or(old.maximum, |m| m.unwrap_or(limits.1));
    def.cycle = sequence.cycle.unwrap_or(old.cycle);
    if let Some(cache) = cache_of(sequence) {
        def.cache = cache;
    }
    let moved =
        (def.increment, def.minimum, def.maximum) != (old.increment, old.minimum, old.maximum);
    if sequence.restart {
        def.original = sequence.start.unwrap_or(old.original);
        def.start = def.original;
        def.generation += 1;
    } else if moved {
        // The numbers go on from the last one given, by the new rule.
        let last = if given > 0 { old.number(given - 1) } else { None };
        def.start = last.map_or(old.start, |last| last + def.increment);
        def.generation += 1;
        let current = last.unwrap_or(old.start);
        if current < def.minimum || current > def.maximum {
            return Err(SqlError::new(
                11704,
                16,
                format!(
                    "The current value '{current}' for sequence object '{}' must be between the minimum and maximum \
                     value of the sequence object.",
                    sequence.name
                ),
            ));
        }
    }
    check(&def, sequence, limits)?;
    Ok(def)
}

/// What is said of its cache: a size, 0 of NO CACHE, none of CACHE alone.
fn cache_of(sequence: &DefineSequence) -> Option<Option<u32>> {
    match sequence.no_cache {
        true => Some(Some(0)),
        false => sequence.cache,
    }
}

fn check(
    def: &SequenceDef,
    sequence: &DefineSequence,
    limits: (i128, i128),
) -> Result<(), SqlError> {
    let name = &sequence.name;
    let fail = |number: i32, text: String| Err(SqlError::new(number, 16, text));
    for (value, what) in [
        (Some(def.minimum), "MINVALUE"),
        (Some(def.maximum), "MAXVALUE"),
        (sequence.start, if sequence.alter { "RESTART WITH" } else { "START WITH" }),
    ] {
        if value.is_some_and(|v| v < limits.0 || v > limits.1) {
            let text = format!(
                "An invalid value was specified for argument '{what}' for the given data type."
            );
            return fail(11708, text);
        }
    }
    if sequence.cache == Some(Some(0)) {
        let text = format!("The cache size for sequence object '{name}' must be greater than 0.");
        return fail(11706, text);
    }
    if def.increment == 0 {
        return fail(11700, format!("The increment for sequence object '{name}' cannot be zero."));
    }
    if def.minimum >= def.maximum {
        return fail(
            11705,
            format!(
                "The minimum value for sequence object '{name}' must be less than its maximum value."
            ),
        );
    }
    if def.increment.abs() > def.maximum - def.minimum {
        return fail(
            11701,
            format!(
                "The absolute value of the increment for sequence object '{name}' must be less than or equal to the \
                 difference between the minimum and maximum value of the sequence object."
            ),
        );
    }
    if (sequence.restart || !sequence.alter) && (def.start < def.minimum || def.start > def.maximum)
    {
        return fail(
            11703,
            format!(
                "The start value for sequence object '{name}' must be between the minimum and maximum value of the \
                 sequence object."
            ),
        );
    }
    Ok(())
}
