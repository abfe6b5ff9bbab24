//! An event that has happened: which it is, and what it is about.

use super::text::element;
use catalog::DdlEvent;

/// An event that has happened.
#[derive(Debug)]
pub struct Occurrence {
    pub event: &'static DdlEvent,
    /// Another database than the session's.
    pub database: Option<String>,
    /// SchemaName; an empty one stands there too.
    pub schema: Option<String>,
    /// ObjectName and ObjectType.
    pub object: Option<(String, &'static str)>,
    /// TargetObjectName and TargetObjectType.
    pub target: Option<(String, &'static str)>,
    /// Elements that this event alone has.
    pub own: String,
}

impl Occurrence {
    /// Of an event by its name, about nothing yet.
    pub fn new(event: &str) -> Occurrence {
        let Some(event) = DdlEvent::by_name(event) else {
            stdx::fatal!("an event of no name: {event}")
        };
        let (database, schema, object, target) = (None, None, None, None);
        Occurrence { event, database, schema, object, target, own: String::new() }
    }
    pub fn schema(mut self, schema: impl Into<String>) -> Occurrence {
        self.schema = Some(schema.into());
        self
    }
    pub fn object(mut self, name: impl Into<String>, ty: &'static str) -> Occurrence {
        self.object = Some((name.into(), ty));
        self
    }
    pub fn target(mut self, name: impl Into<String>, ty: &'static str) -> Occurrence {
        self.target = Some((name.into(), ty));
        self
    }
    pub fn with(mut self, name: &str, text: &str) -> Occurrence {
        element(name, text, &mut self.own);
        self
    }
}

impl Occurrence {
    /// Does it happen to the server, and not in a database?
    pub fn is_of_server(&self) -> bool {
        let of_server = |target: &(String, &str)| target.1 == "Server";
        !self.event.is_of_database() || self.target.as_ref().is_some_and(of_server)
    }
}
