//! The posts' figures, as experiments list them.

use crate::document::Published;

/// A post and its machine.
pub(crate) type Post = (u8, &'static str);

pub(crate) const POST_1: Post = (1, "2 x 6-core Westmere 2.4 GHz, SQL Server 2014");
pub(crate) const POST_3: Post = (3, "2 x 10-core E5-2650 v3 2.3 GHz, SQL Server 2016 CTP");
pub(crate) const POST_5: Post =
    (5, "2 x 6-core Westmere, ioDrive 2 duo (PCIe flash), SQL Server 2014");

impl Published {
    /// A figure as it was printed: without a number, and beside no cell.
    pub(crate) fn of((post, machine): Post, arm: &str, figure: &str, published: &str) -> Published {
        Published {
            post,
            machine: machine.to_owned(),
            arm: arm.to_owned(),
            figure: figure.to_owned(),
            published: published.to_owned(),
            ..Published::default()
        }
    }

    /// The same with its number, if it has one.
    pub(crate) fn with_value(self, value: impl Into<Option<f64>>) -> Published {
        Published { value: value.into(), ..self }
    }

    /// The same beside cells of these settings.
    pub(crate) fn beside<'s>(
        self,
        settings: impl IntoIterator<Item = (&'s str, &'s str)>,
    ) -> Published {
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Published { beside: settings.into_iter().map(own).collect(), ..self }
    }
}
