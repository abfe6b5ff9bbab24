//! CREATE, ALTER and DROP of RESOURCE POOL and WORKLOAD GROUP, and ALTER RESOURCE GOVERNOR.

use super::*;

/// What may be set, and the least and the largest value.
const POOL_SETTINGS: &[(&str, PoolSetting, u32, u32)] = &[
    ("MIN_CPU_PERCENT", PoolSetting::MinCpu, 0, 100),
    ("MAX_CPU_PERCENT", PoolSetting::MaxCpu, 1, 100),
    ("CAP_CPU_PERCENT", PoolSetting::CapCpu, 1, 100),
    ("MIN_MEMORY_PERCENT", PoolSetting::MinMemory, 0, 100),
    ("MAX_MEMORY_PERCENT", PoolSetting::MaxMemory, 1, 100),
    ("MIN_IOPS_PER_VOLUME", PoolSetting::MinIops, 0, i32::MAX as u32),
    ("MAX_IOPS_PER_VOLUME", PoolSetting::MaxIops, 0, i32::MAX as u32),
];
const GROUP_SETTINGS: &[(&str, GroupSetting, u32, u32)] = &[
    ("REQUEST_MAX_MEMORY_GRANT_PERCENT", GroupSetting::MemoryGrantPercent, 1, 100),
    ("REQUEST_MAX_CPU_TIME_SEC", GroupSetting::CpuTimeSec, 0, i32::MAX as u32),
    ("REQUEST_MEMORY_GRANT_TIMEOUT_SEC", GroupSetting::GrantTimeoutSec, 0, i32::MAX as u32),
    ("MAX_DOP", GroupSetting::MaxDop, 0, 64),
    ("GROUP_MAX_REQUESTS", GroupSetting::MaxRequests, 0, i32::MAX as u32),
];
const IMPORTANCES: [&str; 3] = ["LOW", "MEDIUM", "HIGH"];

impl Parser<'_> {
    /// Whether an object of it stands here, behind CREATE, ALTER or DROP.
    pub(super) fn at_governor(&self) -> bool {
        let resource = self.at_word("RESOURCE");
        (resource && (self.word_ahead(1, "POOL") || self.word_ahead(1, "GOVERNOR")))
            || (self.at_word("WORKLOAD") && self.word_ahead(1, "GROUP"))
    }

    /// At its first word, behind `verb`.
    pub(super) fn governor(&mut self, verb: Kw) -> ParseResult<StatementKind> {
        let statement = if self.word_ahead(1, "GOVERNOR") {
            if verb != Kw::Alter {
                return Err(self.unexpected());
            }
            self.at += 2;
            GovernorStatement::Alter(self.alter_governor()?)
        } else if self.at_word("RESOURCE") {
            self.at += 2;
            let name = self.ident()?;
            match verb {
                Kw::Drop => GovernorStatement::DropPool(name),
                Kw::Create => {
                    GovernorStatement::CreatePool { name, settings: self.pool_settings()? }
                }
                _ => {
                    if !self.at_kw(Kw::With) {
                        return Err(self.unexpected());
                    }
                    GovernorStatement::AlterPool { name, settings: self.pool_settings()? }
                }
            }
        } else {
            self.at += 2;
            let name = self.ident()?;
            if verb == Kw::Drop {
                GovernorStatement::DropGroup(name)
            } else {
                let settings = self.group_settings()?;
                let pool = match self.eat_word("USING") {
                    true => Some(self.ident()?),
                    false => None,
                };
                match verb {
                    Kw::Create => GovernorStatement::CreateGroup { name, settings, pool },
                    _ => GovernorStatement::AlterGroup { name, settings, pool },
                }
            }
        };
        Ok(StatementKind::Rare(Box::new(RareStatement::Governor(statement))))
    }

    fn alter_governor(&mut self) -> ParseResult<AlterGovernor> {
        if self.eat_kw(Kw::Reconfigure) {
            return Ok(AlterGovernor::Reconfigure);
        }
        if self.eat_word("DISABLE") {
            return Ok(AlterGovernor::Disable);
        }
        if self.eat_word("RESET") {
            if !self.eat_kw(Kw::Statistics) {
                return Err(self.unexpected());
            }
            return Ok(AlterGovernor::ResetStatistics);
        }
        self.expect_kw(Kw::With)?;
        self.expect_sym(Sym::LeftParen)?;
        let alter = if self.eat_word("MAX_OUTSTANDING_IO_PER_VOLUME") {
            self.expect_sym(Sym::Eq)?;
            AlterGovernor::MaxOutstandingIo(self.setting_value(0, 100)?)
        } else {
            if !self.eat_word("CLASSIFIER_FUNCTION") {
                return Err(self.unexpected());
            }
            self.expect_sym(Sym::Eq)?;
            match self.eat_kw(Kw::Null) {
                true => AlterGovernor::Classifier(None),
                false => AlterGovernor::Classifier(Some(self.object_name()?)),
            }
        };
        self.expect_sym(Sym::RightParen)?;
        Ok(alter)
    }

    /// `[WITH (name = value [,] ...)]`; `one` reads what follows a name's equals sign.
    fn settings<T>(
        &mut self,
        one: impl Fn(&mut Self) -> ParseResult<(T, u32)>,
    ) -> ParseResult<Vec<(T, u32)>> {
        let mut settings = Vec::new();
        if !self.eat_kw(Kw::With) {
            return Ok(settings);
        }
        self.expect_sym(Sym::LeftParen)?;
        loop {
            settings.push(one(self)?);
            // The comma may be left out.
            if !self.eat_sym(Sym::Comma) && self.at_sym(Sym::RightParen) {
                break;
            }
        }
        self.expect_sym(Sym::RightParen)?;
        Ok(settings)
    }

    fn pool_settings(&mut self) -> ParseResult<Vec<(PoolSetting, u32)>> {
        self.settings(|p| p.numbered(POOL_SETTINGS))
    }

    fn group_settings(&mut self) -> ParseResult<Vec<(GroupSetting, u32)>> {
        self.settings(|p| {
            if !p.eat_word("IMPORTANCE") {
                return p.numbered(GROUP_SETTINGS);
            }
            p.expect_sym(Sym::Eq)?;
            match IMPORTANCES.iter().position(|word| p.eat_word(word)) {
                Some(at) => Ok((GroupSetting::Importance, at as u32)),
                None => Err(p.unexpected()),
            }
        })
    }

    fn numbered<T: Copy>(&mut self, known: &[(&str, T, u32, u32)]) -> ParseResult<(T, u32)> {
        let Some((_, setting, least, most)) = known.iter().find(|row| self.eat_word(row.0)) else {
            return Err(self.unexpected());
        };
        self.expect_sym(Sym::Eq)?;
        Ok((*setting, self.setting_value(*least, *most)?))
    }

    /// A number beyond its range is no number here: 102 near it.
    fn setting_value(&mut self, least: u32, most: u32) -> ParseResult<u32> {
        let token = self.token();
        let value = self.small_number()?;
        match (least..=most).contains(&value) {
            true => Ok(value),
            false => Err(self.near(102, token)),
        }
    }
}
