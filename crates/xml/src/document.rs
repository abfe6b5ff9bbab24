//! A parsed text: nodes in document order in one vector.
//!
//! Invariants:
//! 1. Node 0 is the root; it has no name, and holds any number of elements, texts, comments and instructions.
//! 2. Behind an element come its namespace declarations, its attributes, then what is inside it. So the number of a node
//!    is its place in document order, and what is inside a node are the numbers from it up to its `end`.
//! 3. Two texts never stand side by side, and no text is empty.

use crate::value_type::AtomType;
use runtime::task::Many;
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The document.
    Root,
    /// `<a>`
    Element,
    /// `a="..."`
    Attribute,
    /// `xmlns:a="..."`
    Namespace,
    /// Characters.
    Text,
    /// `<!-- -->`
    Comment,
    /// `<?target text?>`
    Instruction,
}

/// A qualified name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    pub prefix: Box<str>,
    pub local: Box<str>,
    pub uri: Box<str>,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub kind: Kind,
    pub name: u32,
    pub parent: u32,
    /// Behind the last node inside it.
    pub end: u32,
    /// Its text among [`Document::text`].
    start: usize,
    len: usize,
}

/// A parsed text.
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) nodes: Vec<Node>,
    pub(crate) names: Many<Name>,
    text: String,
    /// What the values of its nodes are, by a schema; of an untyped one nothing.
    types: Option<Arc<[AtomType]>>,
}

/// A node of a document that it keeps alive.
#[derive(Clone)]
pub struct NodeRef {
    /// The document.
    pub(crate) doc: Arc<Document>,
    /// The number of the node.
    pub(crate) id: u32,
}

impl NodeRef {
    /// The root of a document.
    pub fn root(doc: Arc<Document>) -> NodeRef {
        NodeRef { doc, id: 0 }
    }

    /// A node by its number, as [`NodeRef::id`] told it; the root for none of these.
    pub fn at(doc: Arc<Document>, id: u32) -> NodeRef {
        let id = if (id as usize) < doc.nodes.len() { id } else { 0 };
        NodeRef { doc, id }
    }

    /// Its document.
    pub fn document(&self) -> &Arc<Document> {
        &self.doc
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.id
    }
}

impl PartialEq for NodeRef {
    fn eq(&self, other: &NodeRef) -> bool {
        Arc::ptr_eq(&self.doc, &other.doc) && self.id == other.id
    }
}

impl fmt::Debug for NodeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} of {} nodes", self.id, self.doc.nodes.len())
    }
}

impl Document {
    /// What a node is.
    pub fn kind(&self, id: u32) -> Kind {
        self.nodes[id as usize].kind
    }

    pub(crate) fn name(&self, id: u32) -> &Name {
        &self.names[self.nodes[id as usize].name as usize]
    }

    /// The name of an element or attribute without its prefix; of a namespace the prefix that it declares.
    pub fn local(&self, id: u32) -> &str {
        &self.name(id).local
    }

    /// The namespace of an element or attribute.
    pub fn uri(&self, id: u32) -> &str {
        &self.name(id).uri
    }

    /// How many nodes there are: their numbers are below it.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The same document, of whose nodes it is known what their values are, by their numbers.
    pub fn with_types(self, types: Vec<AtomType>) -> Document {
        debug_assert_eq!(types.len(), self.nodes.len());
        Document { types: Some(types.into()), ..self }
    }

    /// What the value of a node is; of an untyped document it is untyped.
    pub(crate) fn value_type(&self, id: u32) -> AtomType {
        let types = self.types.as_ref();
        types.and_then(|types| types.get(id as usize)).copied().unwrap_or(AtomType::Untyped)
    }

    /// The node that one is inside; none of the root.
    pub fn parent(&self, id: u32) -> Option<u32> {
        (id != 0).then(|| self.nodes[id as usize].parent)
    }

    /// The number behind the last node inside one.
    pub fn end(&self, id: u32) -> u32 {
        self.nodes[id as usize].end
    }

    /// The text of an attribute, a text, a comment, an instruction; the URI of a namespace.
    pub fn content(&self, id: u32) -> &str {
        let node = &self.nodes[id as usize];
        &self.text[node.start..node.start + node.len]
    }

    /// Attributes of an element.
    pub fn attributes(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let all = if self.kind(id) == Kind::Element { id + 1..self.end(id) } else { 0..0 };
        all.take_while(|i| matches!(self.kind(*i), Kind::Attribute | Kind::Namespace))
            .filter(|i| self.kind(*i) == Kind::Attribute)
    }

    /// Namespaces that an element declares.
    pub fn namespaces(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let all = if self.kind(id) == Kind::Element { id + 1..self.end(id) } else { 0..0 };
        all.take_while(|i| self.kind(*i) == Kind::Namespace)
    }

    /// What is directly inside a node.
    pub fn children(&self, id: u32) -> Children<'_> {
        let (mut next, end) = (id + 1, self.end(id));
        while next < end && matches!(self.kind(next), Kind::Attribute | Kind::Namespace) {
            next += 1;
        }
        Children { doc: self, next, end }
    }

    /// The text of a node and of all elements inside it, as XPath's string().
    pub fn string_value(&self, id: u32) -> String {
        match self.kind(id) {
            Kind::Root | Kind::Element => {
                let mut out = String::new();
                for i in id + 1..self.end(id) {
                    if self.kind(i) == Kind::Text {
                        out.push_str(self.content(i));
                    }
                }
                out
            }
            _ => self.content(id).to_owned(),
        }
    }

    /// Levels of elements from a node down, itself counted.
    pub(crate) fn height(&self, id: u32) -> usize {
        let (mut open, mut most) = (Vec::new(), 0);
        for i in id..self.end(id) {
            while open.last().is_some_and(|end| *end <= i) {
                open.pop();
            }
            if self.kind(i) == Kind::Element {
                open.push(self.end(i));
                most = most.max(open.len());
            }
        }
        most
    }

    /// Bytes that it takes, roughly.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.nodes.len() * size_of::<Node>()
    }
}

/// See [`Document::children`].
pub struct Children<'d> {
    doc: &'d Document,
    next: u32,
    end: u32,
}

impl Iterator for Children<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        (self.next < self.end).then(|| {
            let found = self.next;
            self.next = self.doc.end(found);
            found
        })
    }
}

/// Makes a document from its beginning to its end.
pub(crate) struct Builder {
    doc: Document,
    open: Vec<u32>,
    /// The last of the names that have a hash.
    known: HashMap<u64, u32>,
    /// Of each name the one before it that has the same hash; 0, which is no name's, where there is none.
    before: Vec<u32>,
}

impl Builder {
    pub fn new() -> Builder {
        let root = Node { kind: Kind::Root, name: 0, parent: 0, end: 1, start: 0, len: 0 };
        let none = Name { prefix: "".into(), local: "".into(), uri: "".into() };
        let (nodes, names) = (vec![root], vec![none].into());
        let doc = Document { nodes, names, text: String::new(), types: None };
        Builder { doc, open: vec![0], known: HashMap::new(), before: vec![0] }
    }

    /// Levels that are open, the root not counted.
    pub fn depth(&self) -> usize {
        self.open.len() - 1
    }

    fn name(&mut self, prefix: &str, local: &str, uri: &str) -> u32 {
        let mut hasher = DefaultHasher::new();
        (prefix, local, uri).hash(&mut hasher);
        let hash = hasher.finish();
        let last = self.known.get(&hash).copied().unwrap_or(0);
        let mut found = last;
        while found != 0 {
            let known = &self.doc.names[found as usize];
            if *known.prefix == *prefix && *known.local == *local && *known.uri == *uri {
                return found;
            }
            found = self.before[found as usize];
        }
        let id = self.doc.names.len() as u32;
        self.known.insert(hash, id);
        self.before.push(last);
        self.doc.names.push(Name { prefix: prefix.into(), local: local.into(), uri: uri.into() });
        id
    }

    fn push(&mut self, kind: Kind, name: u32, text: &str) -> u32 {
        let id = self.doc.nodes.len() as u32;
        let start = self.doc.text.len();
        self.doc.text.push_str(text);
        let parent = *self.open.last().unwrap_or(&0);
        self.doc.nodes.push(Node { kind, name, parent, end: id + 1, start, len: text.len() });
        id
    }

    pub fn start(&mut self, prefix: &str, local: &str, uri: &str) {
        let name = self.name(prefix, local, uri);
        let id = self.push(Kind::Element, name, "");
        self.open.push(id);
    }

    pub fn namespace(&mut self, prefix: &str, uri: &str) {
        let name = self.name("", prefix, "");
        self.push(Kind::Namespace, name, uri);
    }

    pub fn attribute(&mut self, prefix: &str, local: &str, uri: &str, value: &str) {
        let name = self.name(prefix, local, uri);
        self.push(Kind::Attribute, name, value);
    }

    /// May an attribute come next? Only right behind the beginning of an element.
    pub fn takes_attribute(&self) -> bool {
        let last = self.doc.nodes.len() as u32 - 1;
        let open = *self.open.last().unwrap_or(&0);
        open != 0
            && (last == open
                || matches!(self.doc.kind(last), Kind::Attribute | Kind::Namespace)
                    && self.doc.nodes[last as usize].parent == open)
    }

    /// Whether the open element has an attribute of that name already.
    pub fn has_attribute(&self, local: &str, uri: &str) -> bool {
        let open = *self.open.last().unwrap_or(&0);
        (open + 1..self.doc.nodes.len() as u32).any(|i| {
            self.doc.kind(i) == Kind::Attribute
                && *self.doc.name(i).local == *local
                && *self.doc.name(i).uri == *uri
        })
    }

    pub fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let parent = *self.open.last().unwrap_or(&0);
        if let Some(last) = self.doc.nodes.last_mut()
            && last.kind == Kind::Text
            && last.parent == parent
        {
            last.len += text.len();
            self.doc.text.push_str(text);
            return;
        }
        self.push(Kind::Text, 0, text);
    }

    pub fn comment(&mut self, text: &str) {
        self.push(Kind::Comment, 0, text);
    }

    pub fn instruction(&mut self, target: &str, text: &str) {
        let name = self.name("", target, "");
        self.push(Kind::Instruction, name, text);
    }

    pub fn end(&mut self) {
        let len = self.doc.nodes.len() as u32;
        if let Some(id) = self.open.pop() {
            self.doc.nodes[id as usize].end = len;
        }
    }

    /// A node of another document with all inside it; of a root what is inside it.
    pub fn copy(&mut self, from: &Document, id: u32) {
        self.copy_with(from, id, &mut |_, _| Edit::Keep);
    }

    /// The same; `edit` says what becomes of each node.
    pub fn copy_with(
        &mut self,
        from: &Document,
        id: u32,
        edit: &mut dyn FnMut(&mut Builder, u32) -> Edit,
    ) {
        match edit(self, id) {
            Edit::Keep => {}
            Edit::Drop => return,
        }
        let name = from.name(id);
        match from.kind(id) {
            Kind::Root => {
                for child in from.children(id) {
                    self.copy_with(from, child, edit);
                }
            }
            Kind::Element => {
                self.start(&name.prefix, &name.local, &name.uri);
                let attributes = from.namespaces(id).chain(from.attributes(id));
                for inner in attributes.chain(from.children(id)) {
                    self.copy_with(from, inner, edit);
                }
                self.end();
            }
            Kind::Attribute => {
                self.attribute(&name.prefix, &name.local, &name.uri, from.content(id));
            }
            Kind::Namespace => self.namespace(&name.local, from.content(id)),
            Kind::Text => self.text(from.content(id)),
            Kind::Comment => self.comment(from.content(id)),
            Kind::Instruction => self.instruction(&name.local, from.content(id)),
        }
    }

    pub fn finish(mut self) -> Document {
        while !self.open.is_empty() {
            self.end();
        }
        self.doc
    }
}

/// What becomes of a node that is copied.
pub(crate) enum Edit {
    Keep,
    Drop,
}
