//! What a schema changes of a document that it takes: values as they are to be kept, attributes with their defaults.

use crate::document::{Builder, Document, Kind};
use runtime::task::Breath;
use std::collections::HashMap;

/// An attribute that an element gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// Empty where it is in no namespace.
    pub prefix: String,
    /// Its name without the prefix.
    pub local: String,
    /// Its namespace.
    pub uri: String,
    /// Its value.
    pub value: String,
}

/// Changes of a document, by the numbers of its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Another value of an attribute; of an element one text in the place of those directly inside it.
    pub values: HashMap<u32, String>,
    /// Attributes that elements get behind their own.
    pub attributes: HashMap<u32, Vec<Added>>,
}

impl Edits {
    /// Is nothing changed?
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.attributes.is_empty()
    }
}

impl Document {
    /// The document with these changes; its nodes have other numbers.
    pub fn edited(&self, edits: &Edits) -> Document {
        let mut builder = Builder::new();
        let mut breath = Breath::new();
        for child in self.children(0) {
            self.copy_edited(child, edits, &mut builder, &mut breath);
        }
        builder.finish()
    }

    fn copy_edited(&self, id: u32, edits: &Edits, builder: &mut Builder, breath: &mut Breath) {
        // That of a request which is to stop ends early, and who asked for it looks.
        if !breath.goes_on_by(8 + self.content(id).len() / 8) {
            return;
        }
        if self.kind(id) != Kind::Element {
            return builder.copy(self, id);
        }
        let name = self.name(id);
        builder.start(&name.prefix, &name.local, &name.uri);
        for declared in self.namespaces(id) {
            builder.copy(self, declared);
        }
        for attribute in self.attributes(id) {
            match edits.values.get(&attribute) {
                None => builder.copy(self, attribute),
                Some(value) => {
                    let name = self.name(attribute);
                    builder.attribute(&name.prefix, &name.local, &name.uri, value);
                }
            }
        }
        for added in edits.attributes.get(&id).into_iter().flatten() {
            builder.attribute(&added.prefix, &added.local, &added.uri, &added.value);
        }
        let mut value = edits.values.get(&id);
        let replaced = value.is_some();
        for child in self.children(id) {
            if replaced && self.kind(child) == Kind::Text {
                builder.text(value.take().map_or("", |text| text));
                continue;
            }
            self.copy_edited(child, edits, builder, breath);
        }
        builder.text(value.map_or("", |text| text));
        builder.end();
    }
}

impl Document {
    /// A part of the document as one of its own, without the nodes that `drops` names and what is inside them.
    pub fn part(&self, id: u32, drops: &dyn Fn(&Document, u32) -> bool) -> Document {
        let mut builder = Builder::new();
        builder.copy_with(self, id, &mut |_, node| match drops(self, node) {
            true => crate::document::Edit::Drop,
            false => crate::document::Edit::Keep,
        });
        builder.finish()
    }
}
