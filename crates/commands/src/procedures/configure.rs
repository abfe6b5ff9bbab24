//! sp_configure: the options that there are, one of them, or a new value for one; and RECONFIGURE.
//!
//! Promises: a name may be cut short as long as it names one option (15124 else); an advanced option is there only
//! while 'show advanced options' is in use (15123); a new value is in use after RECONFIGURE.

use crate::Commands;
use crate::procedures::Argument;
use crate::procedures::arguments;
use executor::{ColumnMeta, Command, SqlError, SqlMessage};
use security::Permission;
use session_state::ConfigurationOption;
use types::{Len, SqlType, TypeError, Value};

const SHOW_ADVANCED: &str = "show advanced options";

impl Commands<'_> {
    pub(crate) fn configure(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        let all = self.host.configuration();
        let advanced = all.iter().any(|option| option.name == SHOW_ADVANCED && option.in_use == 1);
        let shown: Vec<ConfigurationOption> =
            all.into_iter().filter(|option| advanced || !option.is_advanced).collect();
        let Some(name) = arguments::value(args, 0, "@configname") else {
            self.tell_options(&shown);
            return Ok(());
        };
        let name = name.as_str().unwrap_or_default().to_lowercase();
        let option = find(&shown, &name)?;
        let Some(value) = arguments::value(args, 1, "@configvalue") else {
            self.tell_options(&[option]);
            return Ok(());
        };
        self.check_server(Permission::AlterSettings)?;
        let number = types::convert::cast(value, value.natural_type(), SqlType::BigInt, 0);
        // The parameter is an int; numbers beyond it are told as values that no option has.
        let number = number.map_err(|error| match error {
            TypeError::ConvertError { from, .. } => {
                SqlError::from(TypeError::ConvertError { from, to: "int" })
            }
            error => error.into(),
        })?;
        let number = number.as_i64().unwrap_or(0);
        self.host.configure(option.name, number)?;
        let text = format!(
            "Configuration option '{}' changed from {} to {number}. Run the RECONFIGURE statement to install.",
            option.name, option.configured
        );
        self.sink.message(&SqlMessage::info(15457, 1, text));
        Ok(())
    }

    /// RECONFIGURE; 5812 for who may not.
    pub(crate) fn reconfigure(&mut self, overridden: bool) -> Result<(), SqlError> {
        if !self.may_on_server(Permission::AlterSettings) {
            let text = "You do not have permission to run the RECONFIGURE statement.";
            return Err(SqlError::new(5812, 14, text));
        }
        if self.state.trancount() > 0 {
            let text = "CONFIG statement cannot be used inside a user transaction.";
            return Err(SqlError::new(574, 16, text).with_state(0));
        }
        self.host.reconfigure(overridden)
    }

    fn tell_options(&mut self, options: &[ConfigurationOption]) {
        let number = |name| ColumnMeta::new(name, SqlType::Int, false);
        self.sink.columns(&[
            ColumnMeta::new("name", SqlType::NVarChar(Len::N(35)), false),
            number("minimum"),
            number("maximum"),
            number("config_value"),
            number("run_value"),
        ]);
        // Every option's range lies within int.
        let int = |n: i64| Value::Int(n as i32);
        for option in options {
            let ConfigurationOption { minimum, maximum, configured, in_use, .. } = *option;
            let [low, high, set, used] = [minimum, maximum, configured, in_use].map(int);
            self.sink.row(&[Value::str(option.name), low, high, set, used]);
        }
        self.tell_done(Command::Select, Some(options.len() as u64));
    }
}

/// By its whole name, or by a part of it that no other has.
fn find(shown: &[ConfigurationOption], name: &str) -> Result<ConfigurationOption, SqlError> {
    let is_whole = |option: &&ConfigurationOption| option.name.eq_ignore_ascii_case(name);
    if let Some(option) = shown.iter().find(is_whole) {
        return Ok(*option);
    }
    let mut parts = shown.iter().filter(|option| option.name.to_lowercase().contains(name));
    match (parts.next(), parts.next()) {
        (Some(option), None) => Ok(*option),
        (Some(_), Some(_)) => {
            let text = format!("The configuration option '{name}' is not unique.");
            Err(SqlError::new(15124, 16, text))
        }
        _ => {
            let text = format!(
                "The configuration option '{name}' does not exist, or it may be an advanced option."
            );
            Err(SqlError::new(15123, 16, text))
        }
    }
}
