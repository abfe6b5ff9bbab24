//! Permissions by SQL Server's names, what they can be granted on, and which one implies which.
//!
//! A permission is known by its name; the same name on several classes (SELECT on an object, a schema, the database) is
//! one [`Permission`] (`names.rs`). What there is on each class, and which implies which, follows SQL Server 2022's
//! sys.fn_builtin_permissions (columns covering_permission_name, parent_class_desc and
//! parent_covering_permission_name) for the classes below (`lattice.rs`).

mod lattice;
mod names;

pub use names::Permission;

/// The class of what is secured; its number is `class` in the permission views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Server,
    Login,
    Database,
    Schema,
    Object,
    Column,
    Type,
    XmlSchemas,
    User,
}

impl Class {
    /// `class`.
    pub fn number(self) -> u8 {
        match self {
            Class::Server => 100,
            Class::Login => 101,
            Class::Database => 0,
            Class::Object | Class::Column => 1,
            Class::Schema => 3,
            Class::User => 4,
            Class::Type => 6,
            Class::XmlSchemas => 10,
        }
    }

    /// `class_desc`.
    pub fn description(self) -> &'static str {
        match self {
            Class::Server => "SERVER",
            Class::Login => "SERVER_PRINCIPAL",
            Class::Database => "DATABASE",
            Class::Object | Class::Column => "OBJECT_OR_COLUMN",
            Class::Schema => "SCHEMA",
            Class::User => "DATABASE_PRINCIPAL",
            Class::Type => "TYPE",
            Class::XmlSchemas => "XML_SCHEMA_COLLECTION",
        }
    }
}

/// What a permission is granted on, within its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Securable {
    Server,
    Database,
    Schema(i32),
    Object(i32),
    /// A table's column by its number, from 1.
    Column(i32, i32),
    /// A user-defined type by its user_type_id.
    Type(i32),
    /// A collection of XML schemas by its id.
    XmlSchemas(i32),
    /// A login in the server's directory, a user or role in a database's.
    Principal(i32),
}

impl Securable {
    /// `major_id`.
    pub fn major_id(self) -> i32 {
        match self {
            Securable::Server | Securable::Database => 0,
            Securable::Schema(id)
            | Securable::Object(id)
            | Securable::Principal(id)
            | Securable::Type(id)
            | Securable::XmlSchemas(id)
            | Securable::Column(id, _) => id,
        }
    }

    /// `minor_id`.
    pub fn minor_id(self) -> i32 {
        match self {
            Securable::Column(_, column) => column,
            _ => 0,
        }
    }

    /// Its class; principals' differ with the scope.
    pub fn class(self, server: bool) -> Class {
        match self {
            Securable::Server => Class::Server,
            Securable::Database => Class::Database,
            Securable::Schema(_) => Class::Schema,
            Securable::Object(_) => Class::Object,
            Securable::Column(..) => Class::Column,
            Securable::Type(_) => Class::Type,
            Securable::XmlSchemas(_) => Class::XmlSchemas,
            Securable::Principal(_) if server => Class::Login,
            Securable::Principal(_) => Class::User,
        }
    }

    /// From the columns of a stored permission; a column's is told by its permission.
    pub fn from_class(class: u8, major_id: i32) -> Option<Securable> {
        Some(match class {
            100 => Securable::Server,
            0 => Securable::Database,
            3 => Securable::Schema(major_id),
            1 => Securable::Object(major_id),
            4 | 101 => Securable::Principal(major_id),
            6 => Securable::Type(major_id),
            10 => Securable::XmlSchemas(major_id),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests;
