//! EXECUTE AS as a clause of a module.

/// EXECUTE AS as a clause of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunsAs {
    /// The owner of its schema.
    Owner,
    /// A user by name; SELF of a module that dbo has defined is `dbo`.
    User(Box<str>),
    /// A login by name, of a trigger of the server.
    Login(Box<str>),
}

impl RunsAs {
    /// Of the options of a module; none for CALLER.
    pub fn of(options: &[String]) -> Option<RunsAs> {
        options.iter().find_map(|option| match option.as_str() {
            "EXECUTE AS OWNER" => Some(RunsAs::Owner),
            "EXECUTE AS SELF" => Some(RunsAs::User("dbo".into())),
            other => {
                let name = other.strip_prefix("EXECUTE AS '")?.strip_suffix('\'')?;
                Some(RunsAs::User(name.into()))
            }
        })
    }
}

impl RunsAs {
    /// The same of a trigger of the server, where names are of logins.
    pub fn of_server(options: &[String]) -> Option<RunsAs> {
        let of = RunsAs::of(options);
        match of {
            Some(RunsAs::User(name)) if !options.iter().any(|o| o == "EXECUTE AS SELF") => {
                Some(RunsAs::Login(name))
            }
            other => other,
        }
    }
}
