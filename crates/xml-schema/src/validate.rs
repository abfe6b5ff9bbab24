//! Documents held to a schema.
//!
//! A walk over the document finds the declaration of each element and attribute, and with it what its value is, what is
//! kept of it, and what is missing: the first mistake is the one that is told, with SQL Server's number and place. What an
//! attribute `xsi:type` or `xsi:nil` says is heard; others of that namespace are passed over.

use crate::content::{Matched, Model, is_repeated};
use crate::error::{Result, SchemaError, wrong};
use crate::facets::{IdKind, Variety};
use crate::ids::{ANY_TYPE, Blocked, ElementId, TypeId};
use crate::model::{AttributeUse, ComplexType, Content, Process, Schema, Type};
use crate::names::{QName, XSD, XSI};
use crate::place;
use crate::simple::{Refused, Taken};
use runtime::task::Breath;
use std::collections::HashMap;
use xml::{Added, AtomType, Document, Edits, Kind};

impl Schema {
    /// A document as a value typed by this collection: valid, its values as they are kept, its defaults filled in.
    /// `is_document`: it must have one element at its top, and no text (6901).
    pub fn accept(&self, doc: Document, is_document: bool) -> Result<Document> {
        let walk = self.walk(&doc, is_document)?;
        match walk.edits.is_empty() {
            true => Ok(doc.with_types(walk.types)),
            false => {
                let edited = doc.edited(&walk.edits);
                // Its nodes have other numbers.
                let types = self.walk(&edited, is_document)?.types;
                Ok(edited.with_types(types))
            }
        }
    }

    /// A document that is a value of this collection already, with what its nodes are. One that is none any more, since
    /// the collection has learnt what a wildcard had passed over, is untyped.
    pub fn annotate(&self, doc: Document) -> Result<Document> {
        match self.walk(&doc, false) {
            Ok(walk) => {
                let types = walk.types;
                Ok(doc.with_types(types))
            }
            Err(e) if (6900..7000).contains(&e.number()) => Ok(doc),
            Err(e) => Err(e),
        }
    }

    fn walk(&self, doc: &Document, is_document: bool) -> Result<Walk<'_>> {
        let mut elements = 0;
        for child in doc.children(0) {
            match doc.kind(child) {
                Kind::Element => elements += 1,
                Kind::Text if is_document => elements += 2,
                _ => {}
            }
        }
        if is_document && elements != 1 {
            return wrong(6901, "XML Validation: XML instance must be a document.");
        }
        let mut walk = Walk {
            schema: self,
            types: vec![AtomType::Untyped; doc.node_count()],
            edits: Edits::default(),
            ids: HashMap::new(),
            references: Vec::new(),
            breath: Breath::new(),
        };
        for child in doc.children(0) {
            match doc.kind(child) {
                Kind::Text => return Err(misplaced_text(doc, 0)),
                Kind::Element => {
                    let name = name_of(doc, child);
                    let Some(id) = self.global_elements.get(&name) else {
                        return Err(undeclared(doc, child));
                    };
                    walk.element(doc, child, *id)?;
                }
                _ => {}
            }
        }
        for (name, value) in &walk.references {
            if !walk.ids.contains_key(value) {
                return wrong(
                    6931,
                    format!(
                        "XML Validation: IDREF constraint check failed. Found attribute named '{name}' with reference to ID \
                         value '{value}', which does not exist"
                    ),
                );
            }
        }
        Ok(walk)
    }
}

struct Walk<'s> {
    schema: &'s Schema,
    types: Vec<AtomType>,
    edits: Edits,
    /// Values of type ID.
    ids: HashMap<String, ()>,
    /// Attributes of type IDREF, and what they name.
    references: Vec<(String, String)>,
    breath: Breath,
}

fn name_of(doc: &Document, id: u32) -> QName {
    QName::new(doc.uri(id), doc.local(id))
}

/// An error at a node.
fn at<T>(doc: &Document, id: u32, number: i32, text: String) -> Result<T> {
    Err(error_at(doc, id, number, &text))
}

fn error_at(doc: &Document, id: u32, number: i32, text: &str) -> SchemaError {
    let place = place::of(doc, id);
    SchemaError::new(number, format!("XML Validation: {text} Location: {place}"))
}

/// 6913.
fn undeclared(doc: &Document, id: u32) -> SchemaError {
    let name = name_of(doc, id);
    error_at(doc, id, 6913, &format!("Declaration not found for element '{name}'."))
}

/// 6909.
fn misplaced_text(doc: &Document, id: u32) -> SchemaError {
    let text = "Text node is not allowed at this location, the type was defined with element only content or with simple \
                content.";
    error_at(doc, id, 6909, text)
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'))
}

impl<'s> Walk<'s> {
    /// An element by its declaration.
    fn element(&mut self, doc: &Document, id: u32, declared: ElementId) -> Result<()> {
        let schema = self.schema;
        let element = schema.element(declared);
        if element.is_abstract {
            let name = &element.name;
            let text = format!(
                "Element '{name}' requires substitution, because it was defined as abstract."
            );
            return at(doc, id, 6934, text);
        }
        let ty = self.type_of(doc, id, Some(element.ty), element.blocked)?.unwrap_or(element.ty);
        let is_nil = match self.xsi(doc, id, "nil").map(str::trim) {
            Some("true" | "1") => {
                if !element.is_nillable || element.fixed.is_some() {
                    let name = &element.name;
                    let text = format!(
                        "Element '{name}' may not have xsi:nil=\"true\" because it was not defined as nillable or because it \
                         has a fixed value constraint."
                    );
                    return at(doc, id, 6917, text);
                }
                true
            }
            _ => false,
        };
        let constraint = (element.default.as_deref(), element.fixed.as_deref());
        self.typed(doc, id, ty, is_nil, constraint)
    }

    /// The type that `xsi:type` names. 6929, 6914, 6936.
    fn type_of(
        &self,
        doc: &Document,
        id: u32,
        declared: Option<TypeId>,
        blocked: Blocked,
    ) -> Result<Option<TypeId>> {
        let Some(text) = self.xsi(doc, id, "type") else { return Ok(None) };
        let text = text.trim();
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        let Some(uri) = place::namespace(doc, id, prefix) else {
            return wrong(
                6929,
                format!("XML Validation: Invalid QName for xsi:type attribute '{text}'."),
            );
        };
        let name = QName::new(&uri, local);
        let found = match uri == XSD {
            true => crate::builtin::by_name(local),
            false => self.schema.global_types.get(&name).copied(),
        };
        let Some(found) = found else {
            let text = format!(
                "Type definition for type '{name}' was not found, type definition is required before use in a type cast."
            );
            return at(doc, id, 6914, text);
        };
        if let Some(declared) = declared {
            let mut blocked = blocked;
            if let Type::Complex(ty) = self.schema.ty(declared) {
                blocked.extension |= ty.blocked.extension;
                blocked.restriction |= ty.blocked.restriction;
            }
            if !self.schema.derives(found, declared, blocked) {
                let shown = |id| self.schema.name_of(id).map_or(String::new(), QName::to_string);
                let text = format!(
                    "Invalid cast for element '{}' from type '{}' to type '{name}'.",
                    name_of(doc, id),
                    shown(declared)
                );
                return at(doc, id, 6936, text);
            }
        }
        Ok(Some(found))
    }

    fn xsi<'t>(&self, doc: &'t Document, id: u32, local: &str) -> Option<&'t str> {
        let found = doc.attributes(id).find(|a| doc.uri(*a) == XSI && doc.local(*a) == local);
        found.map(|a| doc.content(a))
    }

    /// An element of a type.
    fn typed(
        &mut self,
        doc: &Document,
        id: u32,
        ty: TypeId,
        is_nil: bool,
        constraint: (Option<&str>, Option<&str>),
    ) -> Result<()> {
        self.breath.steps(32)?;
        let schema = self.schema;
        match schema.ty(ty) {
            Type::Simple(_) => {
                self.attributes(doc, id, None)?;
                match is_nil {
                    true => self.nil(doc, id),
                    false => self.simple(doc, id, ty, constraint),
                }
            }
            Type::Complex(complex) => {
                if complex.is_abstract {
                    let name = name_of(doc, id);
                    let text = format!(
                        "The type of element '{name}' is abstract. Instantiation requires the use of xsi:type to specify a \
                         non-abstract type."
                    );
                    return at(doc, id, 6919, text);
                }
                self.attributes(doc, id, Some(complex))?;
                match &complex.content {
                    _ if is_nil => self.nil(doc, id),
                    Content::Simple(simple) => self.simple(doc, id, *simple, constraint),
                    Content::Empty => self.empty(doc, id, complex),
                    Content::Model(model) => {
                        self.mixed_value(doc, id, complex, constraint)?;
                        let mut follows = Model::new(schema, model);
                        for child in doc.children(id) {
                            match doc.kind(child) {
                                Kind::Text
                                    if !complex.is_mixed && !is_blank(doc.content(child)) =>
                                {
                                    return Err(misplaced_text(doc, id));
                                }
                                Kind::Element => self.child(doc, child, &mut follows, model)?,
                                _ => {}
                            }
                        }
                        if !follows.may_end() {
                            let expected = follows.expected()?;
                            let text = format!("Invalid content. Expected element(s): {expected}.");
                            return at(doc, id, 6908, text);
                        }
                        Ok(())
                    }
                }
            }
        }
    }

    /// An element without a value.
    fn nil(&mut self, doc: &Document, id: u32) -> Result<()> {
        self.nothing(doc, id)?;
        self.types[id as usize] = AtomType::Nothing;
        Ok(())
    }

    /// 6918.
    fn nothing(&self, doc: &Document, id: u32) -> Result<()> {
        let mut inside = doc.children(id);
        match inside.any(|c| matches!(doc.kind(c), Kind::Element | Kind::Text)) {
            false => Ok(()),
            true => {
                let name = name_of(doc, id);
                let text = format!(
                    "Element '{name}' must not have character or element children, because xsi:nil was set to true."
                );
                at(doc, id, 6918, text)
            }
        }
    }

    /// 6923, 6924.
    fn empty(&self, doc: &Document, id: u32, ty: &ComplexType) -> Result<()> {
        for child in doc.children(id) {
            match doc.kind(child) {
                Kind::Element => {
                    let text = format!("Unexpected element(s): {}.", name_of(doc, child));
                    return at(doc, child, 6923, text);
                }
                Kind::Text if !ty.is_mixed && !is_blank(doc.content(child)) => {
                    let text = format!(
                        "Text '{}' found in attribute-only content model.",
                        doc.content(child)
                    );
                    return at(doc, id, 6924, text);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The default or fixed value of an element of mixed content. 6939, 6921.
    fn mixed_value(
        &mut self,
        doc: &Document,
        id: u32,
        ty: &ComplexType,
        (default, fixed): (Option<&str>, Option<&str>),
    ) -> Result<()> {
        let Some(value) = fixed.or(default).filter(|_| ty.is_mixed) else { return Ok(()) };
        let name = name_of(doc, id);
        if fixed.is_some() && doc.children(id).any(|c| doc.kind(c) == Kind::Element) {
            let text = format!(
                "The element '{name}' is mixed content with a fixed value and therefore not allowed to have element content."
            );
            return at(doc, id, 6939, text);
        }
        if doc.children(id).next().is_none() {
            self.edits.values.insert(id, value.to_owned());
        } else if fixed.is_some_and(|fixed| fixed != doc.string_value(id)) {
            return at(doc, id, 6921, fixed_text(&name));
        }
        Ok(())
    }

    /// An element in a model. 6965, 6923, 6911, 6913.
    fn child(
        &mut self,
        doc: &Document,
        id: u32,
        follows: &mut Model<'s>,
        model: &crate::model::Particle,
    ) -> Result<()> {
        let name = name_of(doc, id);
        match follows.step(&name)? {
            Some(Matched::Element(declared)) => self.element(doc, id, declared),
            Some(Matched::Any(wildcard)) => self.wild(doc, id, &name, wildcard.process),
            None if is_repeated(model, &name) => {
                at(doc, id, 6911, format!("Found duplicate element '{name}' in all content model."))
            }
            None => {
                let expected = follows.expected()?;
                if expected.is_empty() {
                    return at(doc, id, 6923, format!("Unexpected element(s): {name}."));
                }
                let place = place::of(doc, id);
                wrong(
                    6965,
                    format!(
                        "XML Validation: Invalid content. Expected element(s): {expected}. Found: element '{name}' instead. \
                         Location: {place}."
                    ),
                )
            }
        }
    }

    /// An element that a wildcard lets in.
    fn wild(&mut self, doc: &Document, id: u32, name: &QName, process: Process) -> Result<()> {
        match (process, self.schema.global_elements.get(name)) {
            (Process::Skip, _) => Ok(()),
            (_, Some(declared)) => self.element(doc, id, *declared),
            (Process::Strict, None) => Err(undeclared(doc, id)),
            (Process::Lax, None) => {
                let ty = self.type_of(doc, id, None, Blocked::default())?.unwrap_or(ANY_TYPE);
                self.typed(doc, id, ty, false, (None, None))
            }
        }
    }

    // ---- Values

    /// Why a text is no value. 6926, 6937.
    fn refused<T>(&self, doc: &Document, id: u32, text: &str, why: &Refused) -> Result<T> {
        match why {
            Refused::NoValue => at(doc, id, 6926, format!("Invalid simple type value: '{text}'.")),
            Refused::Canonical => {
                let text = format!(
                    "The canonical form of the value '{text}' is not valid according to the specified type. This can result \
                     from the use of pattern facets on non-string types or range restrictions or enumerations on \
                     floating-point types."
                );
                at(doc, id, 6937, text)
            }
        }
    }

    fn taken(&self, doc: &Document, id: u32, ty: TypeId, text: &str) -> Result<Taken> {
        let names = |prefix: &str| place::namespace(doc, id, prefix);
        match self.schema.take(ty, text, &names)? {
            Ok(taken) => Ok(taken),
            Err(why) => self.refused(doc, id, text, &why),
        }
    }

    /// An element of simple content. 6912, 6921.
    fn simple(
        &mut self,
        doc: &Document,
        id: u32,
        ty: TypeId,
        (default, fixed): (Option<&str>, Option<&str>),
    ) -> Result<()> {
        if let Some(child) = doc.children(id).find(|c| doc.kind(*c) == Kind::Element) {
            let name = name_of(doc, child);
            let text = format!("Element '{name}' found in text only content model.");
            return at(doc, child, 6912, text);
        }
        let written = doc.string_value(id);
        let filled = fixed.or(default).filter(|_| written.is_empty());
        let text = filled.unwrap_or(&written);
        let taken = self.taken(doc, id, ty, text)?;
        self.types[id as usize] = taken.ty;
        if let Some(fixed) = fixed
            && self.taken(doc, id, ty, fixed)?.value != taken.value
        {
            return at(doc, id, 6921, fixed_text(&name_of(doc, id)));
        }
        if taken.text != written {
            self.edits.values.insert(id, taken.text);
        }
        Ok(())
    }

    // ---- Attributes

    /// Those of an element; `None` for one of a simple type. 6905, 6906.
    fn attributes(&mut self, doc: &Document, id: u32, ty: Option<&'s ComplexType>) -> Result<()> {
        let uses: &[AttributeUse] = ty.map_or(&[], |ty| &ty.attributes);
        let mut has_id = false;
        for attribute in doc.attributes(id) {
            self.breath.steps(8)?;
            if doc.uri(attribute) == XSI {
                continue;
            }
            let name = name_of(doc, attribute);
            if let Some(found) = uses.iter().find(|known| known.name == name) {
                self.attribute(doc, attribute, found, &mut has_id)?;
                continue;
            }
            let any = ty.and_then(|ty| ty.any_attribute.as_ref());
            let global = self.schema.global_attributes.get(&name);
            match any.filter(|any| any.namespaces.hold(&name.uri)).map(|any| any.process) {
                Some(Process::Skip) => {}
                Some(Process::Lax) if global.is_none() => {}
                Some(_) if global.is_some() => {
                    if let Some(found) = global {
                        self.attribute(doc, attribute, found, &mut has_id)?;
                    }
                }
                _ => {
                    let text = format!("Attribute '{name}' is not permitted in this context.");
                    return at(doc, attribute, 6905, text);
                }
            }
        }
        for known in uses {
            let is_there = doc
                .attributes(id)
                .any(|a| doc.local(a) == &*known.name.local && doc.uri(a) == &*known.name.uri);
            if is_there {
                continue;
            }
            if known.is_required {
                let name = &known.name;
                return at(doc, id, 6906, format!("Required attribute '{name}' is missing."));
            }
            if let Some(value) = known.fixed.as_ref().or(known.default.as_ref()) {
                let kept = self.taken(doc, id, known.ty, value)?.text;
                let added = self.added(doc, id, &known.name, kept);
                self.edits.attributes.entry(id).or_default().extend(added);
            }
        }
        Ok(())
    }

    /// An attribute that an element gets; one in a namespace needs a prefix that is declared there.
    fn added(&self, doc: &Document, id: u32, name: &QName, value: String) -> Option<Added> {
        let mut prefix = String::new();
        if !name.uri.is_empty() {
            let mut at = Some(id);
            let mut found = None;
            while let Some(node) = at {
                let mut declared = doc.namespaces(node);
                found = found.or_else(|| {
                    let fits = |n: &u32| {
                        let prefix = doc.local(*n);
                        !prefix.is_empty()
                            && doc.content(*n) == &*name.uri
                            && place::namespace(doc, id, prefix).as_deref() == Some(&*name.uri)
                    };
                    declared.find(fits).map(|n| doc.local(n).to_owned())
                });
                at = doc.parent(node);
            }
            prefix = found?;
        }
        Some(Added { prefix, local: name.local.to_string(), uri: name.uri.to_string(), value })
    }

    /// 6921, 6930, 6947.
    fn attribute(
        &mut self,
        doc: &Document,
        id: u32,
        declared: &AttributeUse,
        has_id: &mut bool,
    ) -> Result<()> {
        let text = doc.content(id);
        let taken = self.taken(doc, id, declared.ty, text)?;
        self.types[id as usize] = taken.ty;
        if let Some(fixed) = &declared.fixed
            && self.taken(doc, id, declared.ty, fixed)?.value != taken.value
        {
            return at(doc, id, 6921, fixed_text(&declared.name));
        }
        if let Type::Simple(ty) = self.schema.ty(declared.ty) {
            let name = doc.local(id).to_owned();
            match ty.id {
                IdKind::None => {}
                IdKind::Id => {
                    if std::mem::replace(has_id, true) {
                        let text = "Multiple ID attributes found on a single element.".to_owned();
                        return at(doc, id, 6947, text);
                    }
                    if self.ids.insert(taken.text.clone(), ()).is_some() {
                        let text = format!(
                            "ID constraint check failed. Found attribute named '{name}' with duplicate ID value '{}'.",
                            taken.text
                        );
                        return at(doc, id, 6930, text);
                    }
                }
                IdKind::Ref if matches!(ty.variety, Variety::List(_)) => {
                    let words = taken.text.split_ascii_whitespace();
                    self.references.extend(words.map(|word| (name.clone(), word.to_owned())));
                }
                IdKind::Ref => self.references.push((name, taken.text.clone())),
            }
        }
        if taken.text != text {
            self.edits.values.insert(id, taken.text);
        }
        Ok(())
    }
}

/// 6921.
fn fixed_text(name: &QName) -> String {
    format!(
        "Element or attribute '{name}' was defined as fixed, the element value has to be equal to value of 'fixed' attribute \
         specified in definition."
    )
}
