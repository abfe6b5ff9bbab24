//! The rivals: in a build with `--features rivals` they are targets, in any other they say how to get them.

use ::lab::TargetKind;

#[cfg(feature = "rivals")]
pub static RIVALS: &[&dyn TargetKind] = &rival_targets::KINDS;

#[cfg(not(feature = "rivals"))]
pub static RIVALS: &[&dyn TargetKind] = &[&absent::NotBuiltIn];

#[cfg(not(feature = "rivals"))]
mod absent {
    use ::lab::{LabError, Target, TargetKind};

    /// Knows the rivals' names, and no more.
    pub struct NotBuiltIn;

    const NAMES: &[&str] = &["postgres", "postgresql", "mariadb", "mysql", "sqlite"];

    impl TargetKind for NotBuiltIn {
        fn help(&self) -> (&'static str, &'static str) {
            ("(built with --features rivals) postgres, mariadb, sqlite", "other databases")
        }

        fn parse(&self, text: &str) -> Option<Result<Box<dyn Target>, LabError>> {
            let name = text.split([':', '?']).next().unwrap_or(text);
            NAMES.contains(&name).then(|| {
                Err(LabError::Options(format!(
                    "{name} is not built into this binary: a plain build has no drivers of other databases\n\
                     what to do: cargo build --release --features rivals (docs/rivals.md)"
                )))
            })
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_rival_that_is_not_built_in_says_how_to_get_it() {
            for text in
                ["postgres", "mariadb?port=3306", "sqlite", "mysql://u@h", "postgresql://u@h"]
            {
                let told = NotBuiltIn.parse(text).and_then(|made| made.err());
                let told = told.map(|error| error.to_string()).unwrap_or_default();
                assert!(told.contains("--features rivals"), "{text}: {told}");
            }
            for text in ["embedded", "mssql://host", "oracle"] {
                assert!(NotBuiltIn.parse(text).is_none(), "{text}");
            }
        }
    }
}
