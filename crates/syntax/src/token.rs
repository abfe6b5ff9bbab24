//! Tokens and reserved words.
//!
//! A token is a kind and a place; its text stays in the batch. Only SQL Server's reserved words are
//! keywords here: all others (NOLOCK, OUTPUT, TRY ...) are words whose meaning depends on where they
//! stand, and the parser compares their text.

use crate::ast::Span;

/// One token: 16 bytes, so that a batch's tokens stay in cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A regular identifier that is not reserved.
    Word,
    /// A reserved word.
    Key(Kw),
    /// `[...]`
    Bracketed,
    /// `"..."`: an identifier or a text, by the session's setting.
    DoubleQuoted,
    /// `@v`
    Variable,
    /// `@@v`
    SystemVariable,
    Integer,
    Decimal,
    Float,
    Money,
    Binary,
    String,
    NationalString,
    Symbol(Sym),
    /// A character that begins nothing.
    Unknown,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sym {
    LeftParen,
    RightParen,
    Comma,
    Dot,
    Semicolon,
    Colon,
    Eq,
    NotEq,
    Lt,
    LtEq,
    Gt,
    GtEq,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Ampersand,
    Pipe,
    Caret,
    Tilde,
    PlusEq,
    MinusEq,
    StarEq,
    SlashEq,
    PercentEq,
    AmpersandEq,
    PipeEq,
    CaretEq,
}

macro_rules! keywords {
    ($($name:ident $text:literal),* $(,)?) => {
        /// SQL Server's reserved words, without PRECISION, which it takes as a column's name (sys.columns).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Kw { $($name),* }

        const WORDS: &[(&str, Kw)] = &[$(($text, Kw::$name)),*];
    };
}

keywords! {
    Add "ADD", All "ALL", Alter "ALTER", And "AND", Any "ANY", As "AS", Asc "ASC",
    Authorization "AUTHORIZATION", Backup "BACKUP", Begin "BEGIN", Between "BETWEEN",
    Break "BREAK", Browse "BROWSE", Bulk "BULK", By "BY", Cascade "CASCADE", Case "CASE",
    Check "CHECK", Checkpoint "CHECKPOINT", Close "CLOSE", Clustered "CLUSTERED",
    Coalesce "COALESCE", Collate "COLLATE", Column "COLUMN", Commit "COMMIT", Compute "COMPUTE",
    Constraint "CONSTRAINT", Contains "CONTAINS", ContainsTable "CONTAINSTABLE",
    Continue "CONTINUE", Convert "CONVERT", Create "CREATE", Cross "CROSS", Current "CURRENT",
    CurrentDate "CURRENT_DATE", CurrentTime "CURRENT_TIME", CurrentTimestamp "CURRENT_TIMESTAMP",
    CurrentUser "CURRENT_USER", Cursor "CURSOR", Database "DATABASE", Dbcc "DBCC",
    Deallocate "DEALLOCATE", Declare "DECLARE", Default "DEFAULT", Delete "DELETE", Deny "DENY",
    Desc "DESC", Disk "DISK", Distinct "DISTINCT", Distributed "DISTRIBUTED", Double "DOUBLE",
    Drop "DROP", Dump "DUMP", Else "ELSE", End "END", Errlvl "ERRLVL", Escape "ESCAPE",
    Except "EXCEPT", Exec "EXEC", Execute "EXECUTE", Exists "EXISTS", Exit "EXIT",
    External "EXTERNAL", Fetch "FETCH", File "FILE", Fillfactor "FILLFACTOR", For "FOR",
    Foreign "FOREIGN", Freetext "FREETEXT", FreetextTable "FREETEXTTABLE", From "FROM",
    Full "FULL", Function "FUNCTION", Goto "GOTO", Grant "GRANT", Group "GROUP", Having "HAVING",
    Holdlock "HOLDLOCK", Identity "IDENTITY", IdentityInsert "IDENTITY_INSERT",
    IdentityCol "IDENTITYCOL", If "IF", In "IN", Index "INDEX", Inner "INNER", Insert "INSERT",
    Intersect "INTERSECT", Into "INTO", Is "IS", Join "JOIN", Key "KEY", Kill "KILL", Left "LEFT",
    Like "LIKE", Lineno "LINENO", Load "LOAD", Merge "MERGE", National "NATIONAL",
    Nocheck "NOCHECK", Nonclustered "NONCLUSTERED", Not "NOT", Null "NULL", Nullif "NULLIF",
    Of "OF", Off "OFF", Offsets "OFFSETS", On "ON", Open "OPEN", OpenDatasource "OPENDATASOURCE",
    OpenQuery "OPENQUERY", OpenRowset "OPENROWSET", OpenXml "OPENXML", Option "OPTION", Or "OR",
    Order "ORDER", Outer "OUTER", Over "OVER", Percent "PERCENT", Pivot "PIVOT", Plan "PLAN",
    Primary "PRIMARY", Print "PRINT", Proc "PROC", Procedure "PROCEDURE",
    Public "PUBLIC", Raiserror "RAISERROR", Read "READ", ReadText "READTEXT",
    Reconfigure "RECONFIGURE", References "REFERENCES", Replication "REPLICATION",
    Restore "RESTORE", Restrict "RESTRICT", Return "RETURN", Revert "REVERT", Revoke "REVOKE",
    Right "RIGHT", Rollback "ROLLBACK", Rowcount "ROWCOUNT", RowGuidCol "ROWGUIDCOL", Rule "RULE",
    Save "SAVE", Schema "SCHEMA", SecurityAudit "SECURITYAUDIT", Select "SELECT",
    SessionUser "SESSION_USER", Set "SET", SetUser "SETUSER", Shutdown "SHUTDOWN", Some "SOME",
    Statistics "STATISTICS", SystemUser "SYSTEM_USER", Table "TABLE", TableSample "TABLESAMPLE",
    TextSize "TEXTSIZE", Then "THEN", To "TO", Top "TOP", Tran "TRAN", Transaction "TRANSACTION",
    Trigger "TRIGGER", Truncate "TRUNCATE", TryConvert "TRY_CONVERT", Tsequal "TSEQUAL",
    Union "UNION", Unique "UNIQUE", Unpivot "UNPIVOT", Update "UPDATE", UpdateText "UPDATETEXT",
    Use "USE", User "USER", Values "VALUES", Varying "VARYING", View "VIEW", Waitfor "WAITFOR",
    When "WHEN", Where "WHERE", While "WHILE", With "WITH", WriteText "WRITETEXT",
}

const SLOTS: usize = 1024;
const EMPTY: u8 = u8::MAX;
/// Longest reserved word: CURRENT_TIMESTAMP.
const LONGEST: usize = 17;

const fn hash(word: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut i = 0;
    while i < word.len() {
        // Folds ASCII letters to upper case; what it does to other characters only costs a compare.
        hash = (hash ^ (word[i] & 0xdf) as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    (hash ^ (hash >> 15)) as usize % SLOTS
}

/// Open addressing, filled by the compiler.
static TABLE: [u8; SLOTS] = {
    assert!(WORDS.len() < EMPTY as usize);
    let mut table = [EMPTY; SLOTS];
    let mut i = 0;
    while i < WORDS.len() {
        let mut slot = hash(WORDS[i].0.as_bytes());
        while table[slot] != EMPTY {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = i as u8;
        i += 1;
    }
    table
};

/// The reserved word that `word` is, in any case of letters.
pub(crate) fn keyword(word: &str) -> Option<Kw> {
    if word.len() > LONGEST {
        return None;
    }
    let mut slot = hash(word.as_bytes());
    loop {
        let entry = TABLE[slot];
        if entry == EMPTY {
            return None;
        }
        let (text, key) = WORDS[entry as usize];
        if text.eq_ignore_ascii_case(word) {
            return Some(key);
        }
        slot = (slot + 1) % SLOTS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reserved_word_is_found_in_any_case() {
        for (text, key) in WORDS {
            assert!(text.len() <= LONGEST, "{text}");
            assert_eq!(keyword(text), Some(*key));
            assert_eq!(keyword(&text.to_lowercase()), Some(*key));
            assert_eq!(keyword(&format!("{text}x")), None);
        }
        assert_eq!(keyword("NOLOCK"), None);
        assert_eq!(keyword("\u{1}"), None);
    }

    #[test]
    fn a_token_is_small() {
        assert_eq!(size_of::<Token>(), 16);
    }
}
