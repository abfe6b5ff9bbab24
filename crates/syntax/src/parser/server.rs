//! ALTER SERVER CONFIGURATION.

use super::*;

/// Clauses of ALTER SERVER CONFIGURATION that are not carried out, and what may follow: these words, or else `=`.
const NOT_BUILT: [(&str, &[&str]); 7] = [
    ("DIAGNOSTICS LOG", &["ON", "OFF", "PATH", "MAX_SIZE", "MAX_FILES"]),
    (
        "FAILOVER CLUSTER PROPERTY",
        &[
            "VerboseLogging",
            "SqlDumperDumpFlags",
            "SqlDumperDumpPath",
            "SqlDumperDumpTimeOut",
            "FailureConditionLevel",
            "HealthCheckTimeout",
            "ClusterConnectionOptions",
        ],
    ),
    ("HADR CLUSTER CONTEXT", &[]),
    ("BUFFER POOL EXTENSION", &["ON", "OFF"]),
    ("MEMORY_OPTIMIZED", &["ON", "OFF", "TEMPDB_METADATA", "HYBRID_BUFFER_POOL"]),
    ("EXTERNAL AUTHENTICATION", &["ON", "OFF"]),
    ("SUSPEND_FOR_SNAPSHOT_BACKUP", &[]),
];

impl Parser<'_> {
    /// At SERVER.
    pub(super) fn alter_server(&mut self) -> ParseResult<StatementKind> {
        self.at += 2;
        self.expect_kw(Kw::Set)?;
        if self.at_word("PROCESS") && self.word_ahead(1, "AFFINITY") {
            self.at += 2;
            let affinity = self.process_affinity()?;
            return Ok(StatementKind::AlterServer(AlterServer::ProcessAffinity(affinity)));
        }
        if self.eat_word("LISTENER") {
            let address = self.string()?;
            let nodes = self.listener_nodes()?;
            return Ok(StatementKind::AlterServer(AlterServer::Listener { address, nodes }));
        }
        if self.eat_word("SOFTNUMA") {
            let on = self.eat_kw(Kw::On);
            if !on {
                self.expect_kw(Kw::Off)?;
            }
            return Ok(StatementKind::AlterServer(AlterServer::SoftNuma(on)));
        }
        if self.eat_word("HARDWARE_OFFLOAD") {
            return self.hardware_offload();
        }
        if !self.eat_word("MILLRACE") {
            return self.clause_not_built();
        }
        self.expect_sym(Sym::LeftParen)?;
        let switches = self.comma_list(Self::server_switch)?;
        self.expect_sym(Sym::RightParen)?;
        Ok(StatementKind::AlterServer(AlterServer::Millrace(switches)))
    }

    /// One of SQL Server's clauses that are not carried out here, told by its name; 102 for what is none.
    fn clause_not_built(&mut self) -> ParseResult<StatementKind> {
        for (name, next) in NOT_BUILT {
            let words = name.split(' ');
            if !words.clone().enumerate().all(|(i, word)| self.word_ahead(i, word)) {
                continue;
            }
            self.at += words.count();
            let equals = next.is_empty() && self.at_sym(Sym::Eq);
            if !equals && !next.iter().any(|word| self.at_word(word)) {
                return Err(self.unexpected());
            }
            return self.skip_statement(&format!("ALTER SERVER CONFIGURATION SET {name}"));
        }
        Err(self.unexpected())
    }

    /// `= ON (ACCELERATOR = QAT, MODE = SOFTWARE)`, `OFF`; the sign may be left out.
    fn hardware_offload(&mut self) -> ParseResult<StatementKind> {
        self.eat_sym(Sym::Eq);
        let on = self.eat_kw(Kw::On);
        if !on {
            self.expect_kw(Kw::Off)?;
        }
        let mut accelerator = None;
        if self.eat_sym(Sym::LeftParen) {
            self.expect_word("ACCELERATOR")?;
            self.expect_sym(Sym::Eq)?;
            accelerator = Some(self.any_word()?);
            if self.eat_sym(Sym::Comma) {
                self.expect_word("MODE")?;
                self.expect_sym(Sym::Eq)?;
                if !self.eat_word("HARDWARE") && !self.eat_word("SOFTWARE") {
                    return Err(self.unexpected());
                }
            }
            self.expect_sym(Sym::RightParen)?;
        }
        Ok(StatementKind::AlterServer(AlterServer::HardwareOffload { on, accelerator }))
    }

    /// `CPU = AUTO`, `CPU = 0 TO 3, 5`, `NUMANODE = 0`.
    fn process_affinity(&mut self) -> ParseResult<ProcessAffinity> {
        if self.eat_word("NUMANODE") {
            self.expect_sym(Sym::Eq)?;
            return Ok(ProcessAffinity::Nodes(self.comma_list(Self::number_range)?));
        }
        if !self.eat_word("CPU") {
            return Err(self.unexpected());
        }
        self.expect_sym(Sym::Eq)?;
        if self.eat_word("AUTO") {
            return Ok(ProcessAffinity::Auto);
        }
        Ok(ProcessAffinity::Cpus(self.comma_list(Self::number_range)?))
    }

    /// `NUMANODE = ALL`, `NUMANODE = 0x3`, `NUMANODE = 0 TO 1, 3`.
    fn listener_nodes(&mut self) -> ParseResult<ListenerNodes> {
        if !self.eat_word("NUMANODE") {
            return Err(self.unexpected());
        }
        self.expect_sym(Sym::Eq)?;
        if self.eat_kw(Kw::All) {
            return Ok(ListenerNodes::All);
        }
        let token = self.token();
        if token.kind != TokenKind::Binary {
            return Ok(ListenerNodes::Ranges(self.comma_list(Self::number_range)?));
        }
        self.at += 1;
        let map = u64::from_str_radix(&self.token_text(token)[2..], 16);
        map.map(ListenerNodes::Map).map_err(|_| self.near(102, token))
    }

    /// `n`, or `n TO m`.
    fn number_range(&mut self) -> ParseResult<(u32, u32)> {
        let first = self.small_number()?;
        let last = if self.eat_kw(Kw::To) { self.small_number()? } else { first };
        Ok((first, last))
    }

    pub(super) fn small_number(&mut self) -> ParseResult<u32> {
        let token = self.token();
        if token.kind != TokenKind::Integer {
            return Err(self.unexpected());
        }
        self.at += 1;
        self.token_text(token).parse().map_err(|_| self.near(102, token))
    }

    /// `NAME = value`; a value is a text, or words and numbers in any number.
    fn server_switch(&mut self) -> ParseResult<ServerSwitch> {
        let name = self.ident()?.value;
        self.expect_sym(Sym::Eq)?;
        if self.eat_kw(Kw::Default) {
            return Ok(ServerSwitch { name, value: None });
        }
        if self.at_string() {
            return Ok(ServerSwitch { name, value: Some(self.string()?) });
        }
        let mut words = Vec::new();
        while matches!(self.kind(), TokenKind::Word | TokenKind::Key(_) | TokenKind::Integer) {
            let token = self.advance();
            words.push(self.token_text(token).to_ascii_uppercase());
        }
        if words.is_empty() {
            return Err(self.unexpected());
        }
        Ok(ServerSwitch { name, value: Some(words.join(" ")) })
    }
}
