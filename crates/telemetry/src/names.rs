//! One macro: an enum whose variants carry SQL Server's name for the statistic.

macro_rules! named {
    ($(#[$doc:meta])* $vis:vis enum $Name:ident { $($Variant:ident = $name:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(usize)]
        $vis enum $Name { $(#[doc = $name] $Variant),* }

        impl $Name {
            /// Every variant, in the order of their numbers.
            pub const ALL: &'static [$Name] = &[$($Name::$Variant),*];
            pub(crate) const COUNT: usize = Self::ALL.len();

            /// The name that SQL Server gives it.
            pub const fn name(self) -> &'static str {
                match self { $($Name::$Variant => $name),* }
            }
        }
    };
}
