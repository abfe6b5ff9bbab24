//! What a text would answer, without running it: sp_describe_first_result_set, sp_describe_parameter_encryption. The
//! parameters that it does not declare are in `undeclared`.

use crate::code::Code;
use crate::vm::Vm;
use commands::Argument;
use executor::{ColumnMeta, Command, SqlError};
use ir::{OutputColumn, ProcRef, StmtKind};
use types::{Len, SqlType, Value};

pub(crate) const NAME: SqlType = SqlType::NVarChar(Len::N(128));
pub(crate) const TYPE_NAME: SqlType = SqlType::NVarChar(Len::N(256));
pub(crate) const LONG_NAME: SqlType = SqlType::NVarChar(Len::N(4000));
/// SQL_Latin1_General_CP1_CI_AS as clients are told it: LCID and flags, sort id.
const COLLATION_ID: i32 = 0x00d0_0409;
const SORT_ID: u8 = 52;

/// How catalog views and the wire name a type.
pub(crate) struct TypeFacts {
    /// Bytes; -1 for max.
    pub max_length: i16,
    pub precision: u8,
    pub scale: u8,
    pub tds_type: i32,
}

pub(crate) fn facts(ty: SqlType) -> TypeFacts {
    let of = |max_length: i16, precision: u8, scale: u8, tds_type: i32| TypeFacts {
        max_length,
        precision,
        scale,
        tds_type,
    };
    let len = |len: Len, unit: u16| match len {
        Len::Max => -1,
        Len::N(n) => (n * unit) as i16,
    };
    // Bytes of a time of day with so many digits.
    let time = |p: u8| {
        if p <= 2 {
            3
        } else if p <= 4 {
            4
        } else {
            5
        }
    };
    // Digits after the point, and the point.
    let digits = |p: u8| if p == 0 { 0 } else { p + 1 };
    match ty {
        SqlType::Bit => of(1, 1, 0, 104),
        SqlType::TinyInt => of(1, 3, 0, 38),
        SqlType::SmallInt => of(2, 5, 0, 38),
        SqlType::Int => of(4, 10, 0, 38),
        SqlType::BigInt => of(8, 19, 0, 38),
        SqlType::Decimal { precision: p, scale, numeric } => of(
            if p <= 9 {
                5
            } else if p <= 19 {
                9
            } else if p <= 28 {
                13
            } else {
                17
            },
            p,
            scale,
            if numeric { 108 } else { 106 },
        ),
        SqlType::Money => of(8, 19, 4, 110),
        SqlType::SmallMoney => of(4, 10, 4, 110),
        SqlType::Float => of(8, 53, 0, 109),
        SqlType::Real => of(4, 24, 0, 109),
        SqlType::Char(n) => of(n as i16, 0, 0, 175),
        SqlType::VarChar(l) => of(len(l, 1), 0, 0, 167),
        SqlType::NChar(n) => of((n * 2) as i16, 0, 0, 239),
        SqlType::NVarChar(l) => of(len(l, 2), 0, 0, 231),
        SqlType::Binary(n) => of(n as i16, 0, 0, 173),
        SqlType::VarBinary(l) => of(len(l, 1), 0, 0, 165),
        SqlType::Date => of(3, 10, 0, 40),
        SqlType::Time(p) => of(time(p), 8 + digits(p), p, 41),
        SqlType::DateTime => of(8, 23, 3, 111),
        SqlType::SmallDateTime => of(4, 16, 0, 111),
        SqlType::DateTime2(p) => of(time(p) + 3, 19 + digits(p), p, 42),
        SqlType::DateTimeOffset(p) => of(time(p) + 5, 26 + digits(p), p, 43),
        SqlType::UniqueIdentifier => of(16, 0, 0, 36),
        SqlType::Variant => of(8016, 0, 0, 98),
        SqlType::Xml | SqlType::TypedXml { .. } => of(-1, 0, 0, 241),
        SqlType::Clr(ty) => of(ty.bytes_max().map_or(-1, |n| n as i16), 0, 0, 240),
    }
}

pub(crate) fn argument<'a>(args: &'a [Argument], place: usize, name: &str) -> &'a str {
    let named = args.iter().find(|a| {
        a.name.as_deref().is_some_and(|n| n.trim_start_matches('@').eq_ignore_ascii_case(name))
    });
    let found = named.or_else(|| args.get(place).filter(|a| a.name.is_none()));
    found.and_then(|a| a.value.as_ref()).and_then(Value::as_str).unwrap_or("")
}

pub(crate) fn columns(of: &[(&str, SqlType)]) -> Vec<ColumnMeta> {
    of.iter().map(|(name, ty)| ColumnMeta::new(*name, *ty, true)).collect()
}

pub(crate) fn bit(on: bool) -> Value {
    Value::Bit(on)
}

/// The id and name of text, ntext or image, where a column is one; the id is its token on the wire too.
fn long_type(column: &OutputColumn) -> Option<(i32, &'static str)> {
    column.base.as_deref().filter(|base| base.long)?;
    match column.ty {
        SqlType::VarChar(Len::Max) => Some((35, "text")),
        SqlType::NVarChar(Len::Max) => Some((99, "ntext")),
        SqlType::VarBinary(Len::Max) => Some((34, "image")),
        _ => None,
    }
}

/// user_type_id, its database, schema and name, and the assembly's: of a type of the CLR. The system's types are in every
/// database; master stands for them, as on the wire.
pub(crate) fn user_type(ty: SqlType) -> [Value; 5] {
    match ty {
        SqlType::Clr(clr) => [
            Value::Int(i32::from(clr.user_type())),
            Value::str("master"),
            Value::str("sys"),
            Value::str(clr.name()),
            Value::str(&format!("{}, {}", clr.class(), types::clr::ASSEMBLY)),
        ],
        _ => [const { Value::Null }; 5],
    }
}

/// What is told of a column of a result set: up to `order_by_list_length`.
fn described(at: usize, column: &OutputColumn) -> Vec<Value> {
    let ty = column.ty;
    let of = facts(ty);
    let base = column.base.as_deref();
    let computed = base.is_some_and(|base| base.computed);
    let version = base.is_some_and(|base| base.rowversion);
    let made = computed || version || column.identity.is_some();
    let long = long_type(column);
    let (id, name) = match long {
        _ if version => (189, "timestamp".to_owned()),
        Some((id, name)) => (id, name.to_owned()),
        None => (ty.system_type_id() as i32, ty.to_string()),
    };
    let mut row = vec![
        bit(base.is_some_and(|base| base.hidden)),
        Value::Int(at as i32 + 1),
        column.name.as_deref().map_or(Value::Null, Value::str),
        bit(column.nullable),
        Value::Int(id),
        Value::str(&name),
        Value::SmallInt(if long.is_some() { 16 } else { of.max_length }),
        Value::TinyInt(of.precision),
        Value::TinyInt(of.scale),
        if ty.is_character() { Value::str(&column.collation.name()) } else { Value::Null },
    ];
    row.extend(user_type(ty));
    row.extend(std::iter::repeat_n(Value::Null, 4));
    row.extend([bit(false), bit(false), bit(false)]);
    row.extend(std::iter::repeat_n(Value::Null, 5));
    row.extend([
        bit(column.identity.is_some()),
        Value::Null,
        bit(column.updatable && !made),
        bit(computed),
        bit(false),
    ]);
    row.extend(std::iter::repeat_n(Value::Null, 3));
    row
}

/// The rows of sys.dm_exec_describe_first_result_set: columns as [`described`] and no error, or one row with the error
/// alone.
pub(crate) fn described_rows(found: Result<Vec<OutputColumn>, SqlError>) -> Vec<Vec<Value>> {
    const COLUMNS: usize = 35;
    const ERROR: usize = 6;
    match found {
        Ok(found) => {
            let row = |(i, column)| {
                let mut row = described(i, column);
                row.extend(std::iter::repeat_n(Value::Null, ERROR));
                row
            };
            found.iter().enumerate().map(row).collect()
        }
        Err(error) => {
            let mut row = vec![Value::Null; COLUMNS];
            // Of a batch that says nothing of a column there is but the place.
            (row[0], row[1]) = (bit(false), Value::Int(0));
            let (kind, word) = if error.severity == 15 { (2, "SYNTAX") } else { (1, "MISC") };
            row.extend([
                Value::Int(error.number),
                Value::Int(error.severity.into()),
                Value::Int(error.state.into()),
                Value::str(&error.text),
                Value::Int(kind),
                Value::str(word),
            ]);
            vec![row]
        }
    }
}

impl Vm<'_> {
    /// The columns of the first result set of a text; none where it has none.
    pub fn first_result_of(
        &mut self,
        text: &str,
        declarations: &str,
    ) -> Result<Vec<OutputColumn>, SqlError> {
        let (code, _) = self.compile_text(text, Some(declarations))?;
        Ok(self.first_result(&code, 0, true)?.unwrap_or_default())
    }

    /// The columns of the first result set of a program, a procedure's that it calls included; `asked`: who asks needs
    /// the permission to run what comes until then.
    pub fn first_result(
        &mut self,
        code: &Code,
        depth: usize,
        asked: bool,
    ) -> Result<Option<Vec<OutputColumn>>, SqlError> {
        let asked = asked && self.state.identity.is_limited();
        for index in 0..code.statements.len() {
            if asked {
                self.bound_now(code, &code.statements[index])?;
            }
            let found = match &code.statements[index].kind {
                StmtKind::Exec(exec) if exec.result_sets.is_some() => {
                    exec.result_sets.iter().flatten().next().cloned()
                }
                StmtKind::Exec(exec) if depth < 8 => match &exec.procedure {
                    ProcRef::Name(name) => {
                        match self.find_procedure(code.program.schema.as_deref(), name) {
                            Some(definition) => {
                                if asked {
                                    self.commands().check_execute(&definition, code.object_id)?;
                                }
                                let (called, learnt) = self.procedure(&definition)?;
                                self.keep_learnt(&definition, &called, learnt);
                                self.first_result(&called, depth + 1, asked)?
                            }
                            None => None,
                        }
                    }
                    ProcRef::Var(_) | ProcRef::Text(_) => None,
                },
                _ => self.columns_of(code, index)?,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// sp_describe_first_result_set @tsql [, @params [, @browse_information_mode]].
    pub fn describe_first_result(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        use SqlType::{Bit, Int, SmallInt, TinyInt};
        let (text, declarations) = (argument(args, 0, "tsql"), argument(args, 1, "params"));
        let found = self.first_result_of(text, declarations)?;
        self.sink.columns(&columns(&[
            ("is_hidden", Bit),
            ("column_ordinal", Int),
            ("name", NAME),
            ("is_nullable", Bit),
            ("system_type_id", Int),
            ("system_type_name", TYPE_NAME),
            ("max_length", SmallInt),
            ("precision", TinyInt),
            ("scale", TinyInt),
            ("collation_name", NAME),
            ("user_type_id", Int),
            ("user_type_database", NAME),
            ("user_type_schema", NAME),
            ("user_type_name", NAME),
            ("assembly_qualified_type_name", LONG_NAME),
            ("xml_collection_id", Int),
            ("xml_collection_database", NAME),
            ("xml_collection_schema", NAME),
            ("xml_collection_name", NAME),
            ("is_xml_document", Bit),
            ("is_case_sensitive", Bit),
            ("is_fixed_length_clr_type", Bit),
            ("source_server", NAME),
            ("source_database", NAME),
            ("source_schema", NAME),
            ("source_table", NAME),
            ("source_column", NAME),
            ("is_identity_column", Bit),
            ("is_part_of_unique_key", Bit),
            ("is_updateable", Bit),
            ("is_computed_column", Bit),
            ("is_sparse_column_set", Bit),
            ("ordinal_in_order_by_list", SmallInt),
            ("order_by_is_descending", SmallInt),
            ("order_by_list_length", SmallInt),
            ("tds_type_id", Int),
            ("tds_length", Int),
            ("tds_collation_id", Int),
            ("tds_collation_sort_id", TinyInt),
        ]));
        for (i, column) in found.iter().enumerate() {
            let (ty, of) = (column.ty, facts(column.ty));
            let character = ty.is_character();
            let mut row = described(i, column);
            row.extend([
                Value::Int(long_type(column).map_or(of.tds_type, |(id, _)| id)),
                Value::Int(match long_type(column) {
                    Some((99, _)) => i32::MAX - 1,
                    Some(_) => i32::MAX,
                    None if of.max_length < 0 => 65535,
                    None => of.max_length as i32,
                }),
                if character { Value::Int(COLLATION_ID) } else { Value::Null },
                if character { Value::TinyInt(SORT_ID) } else { Value::Null },
            ]);
            self.sink.row(&row);
        }
        self.tell_done(Command::Select, Some(found.len() as u64));
        Ok(())
    }

    /// sp_describe_parameter_encryption: no column is encrypted, so no key is told and every parameter is plain.
    pub fn describe_encryption(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        use SqlType::{Int, TinyInt};
        let declarations = argument(args, 1, "params");
        let options = syntax::LexOptions { quoted_identifier: true };
        let parameters = syntax::parse_parameters(declarations, &options)
            .map_err(crate::mistakes::first_mistake)?;
        self.sink.columns(&columns(&[
            ("column_encryption_key_ordinal", Int),
            ("database_id", Int),
            ("column_encryption_key_id", Int),
            ("column_encryption_key_version", Int),
            ("column_encryption_key_metadata_version", SqlType::Binary(8)),
            ("column_encryption_key_encrypted_value", SqlType::VarBinary(Len::N(4000))),
            ("column_master_key_store_provider_name", NAME),
            ("column_master_key_path", LONG_NAME),
            ("column_encryption_key_encryption_algorithm_name", NAME),
        ]));
        self.tell_done(Command::Select, Some(0));
        self.sink.columns(&columns(&[
            ("parameter_ordinal", Int),
            ("parameter_name", NAME),
            ("column_encryption_algorithm", TinyInt),
            ("column_encryption_type", TinyInt),
            ("column_encryption_key_ordinal", Int),
            ("column_encryption_normalization_rule_version", TinyInt),
        ]));
        for (i, parameter) in parameters.iter().enumerate() {
            self.sink.row(&[
                Value::Int(i as i32 + 1),
                Value::str(&parameter.name.name),
                Value::TinyInt(0),
                Value::TinyInt(0),
                Value::Int(0),
                Value::TinyInt(0),
            ]);
        }
        self.tell_done(Command::Select, Some(parameters.len() as u64));
        Ok(())
    }
}
