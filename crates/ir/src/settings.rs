//! The settings of a session under which a text was bound.

/// SET options that change what a text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// ANSI_NULLS: OFF, `x = NULL` is true of NULL.
    pub ansi_nulls: bool,
    /// CONCAT_NULL_YIELDS_NULL: OFF, NULL is an empty text beside `+`.
    pub concat_null: bool,
    /// ANSI_NULL_DFLT_ON: a new column of which nothing is said may be NULL.
    pub null_columns: bool,
    /// NO_BROWSETABLE: what is selected comes with its table's key and the names of base tables and columns.
    pub browse: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { ansi_nulls: true, concat_null: true, null_columns: true, browse: false }
    }
}

impl Settings {
    /// What holds after `SET name ON` or OFF.
    pub fn set(self, name: &str, on: bool) -> Settings {
        match name {
            "ANSI_NULLS" => Settings { ansi_nulls: on, ..self },
            "CONCAT_NULL_YIELDS_NULL" => Settings { concat_null: on, ..self },
            "NO_BROWSETABLE" => Settings { browse: on, ..self },
            // Each of the two being ON turns the other off.
            "ANSI_NULL_DFLT_ON" => Settings { null_columns: on, ..self },
            "ANSI_NULL_DFLT_OFF" if on => Settings { null_columns: false, ..self },
            "ANSI_DEFAULTS" => Settings { ansi_nulls: on, null_columns: on, ..self },
            _ => self,
        }
    }
}
