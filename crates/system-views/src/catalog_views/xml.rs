//! Collections of XML schemas, and XML indexes.
//!
//! Columns and types: SQL documentation, "sys.xml_schema_collections" and its like, "sys.xml_indexes". Of components those
//! are listed that have names.

use super::indexes::{self, Index};
use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use catalog::{ModuleKind, ObjectRef, ProcedureDef, XmlIndex};
use executor::SqlError;
use std::sync::Arc;
use types::Value;
use xml_schema::{Component, ComponentKind};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] =
    &[&COLLECTIONS, &NAMESPACES, &COMPONENTS, &COLUMN_USES, &XML_INDEXES];

/// The collection that every database has: XML Schema's own types.
const SYS_COLLECTION: i32 = 1;

/// A collection of schemas.
pub struct Collection {
    id: i32,
    schema_id: i32,
    owner: Option<i32>,
    name: String,
    created: u64,
}

fn user_collections(context: &Context<'_>) -> Vec<Arc<ProcedureDef>> {
    let kind = ModuleKind::XmlSchemaCollection;
    context.database.catalog.modules_of_kind(context.scope(), kind)
}

fn collections(context: &Context<'_>, _: &[Value]) -> Result<Vec<Collection>, SqlError> {
    let own = Collection {
        id: SYS_COLLECTION,
        schema_id: 4,
        owner: None,
        name: "sys".into(),
        created: 0,
    };
    let users = user_collections(context).into_iter().map(|module| Collection {
        id: module.object_id,
        schema_id: context.schema_id(&module.schema),
        owner: context.own_owner(module.object_id),
        name: module.name.to_string(),
        created: module.created_unix_ns,
    });
    Ok(std::iter::once(own).chain(users).collect())
}

view! {
    COLLECTIONS = "sys.xml_schema_collections" of Collection as c, rows collections;
    xml_collection_id int = c.id;
    schema_id int = c.schema_id;
    principal_id int null = c.owner;
    name sysname = &c.name;
    create_date datetime = moment(c.created);
    modify_date datetime = moment(c.created);
}

/// A target namespace of a collection.
pub struct Namespace {
    collection: i32,
    name: Arc<str>,
    id: i32,
}

fn namespaces(context: &Context<'_>, _: &[Value]) -> Result<Vec<Namespace>, SqlError> {
    let xsd = "http://www.w3.org/2001/XMLSchema";
    let mut all = vec![Namespace { collection: SYS_COLLECTION, name: xsd.into(), id: 1 }];
    for module in user_collections(context) {
        let Some(schemas) = &module.xml_schema else { continue };
        let named = schemas.schema().namespaces().iter().zip(1..);
        let collection = module.object_id;
        all.extend(named.map(|(name, id)| Namespace { collection, name: name.clone(), id }));
    }
    Ok(all)
}

view! {
    NAMESPACES = "sys.xml_schema_namespaces" of Namespace as n, rows namespaces;
    xml_collection_id int = n.collection;
    name nvarchar(4000) = &*n.name;
    xml_namespace_id int = n.id;
}

/// A component with a name.
pub struct Part {
    id: i32,
    collection: i32,
    namespace: i32,
    base: Option<i32>,
    of: Component,
}

fn components(context: &Context<'_>, _: &[Value]) -> Result<Vec<Part>, SqlError> {
    let mut all: Vec<Part> = Vec::new();
    for module in user_collections(context) {
        let Some(schemas) = &module.xml_schema else { continue };
        let schema = schemas.schema();
        let first = all.len();
        // Numbers go on from collection to collection, past those of XML Schema's own types.
        for of in schema.components() {
            let place = schema.namespaces().iter().position(|n| **n == *of.name.uri);
            let (id, namespace) = (all.len() as i32 + 65_536, place.map_or(0, |i| i as i32 + 1));
            all.push(Part { id, collection: module.object_id, namespace, base: None, of });
        }
        for i in first..all.len() {
            let base = all[first..].iter().find(|other| {
                other.of.kind == ComponentKind::Type
                    && Some(&other.of.name) == all[i].of.ty.as_ref()
            });
            all[i].base = base.map(|base| base.id);
        }
    }
    Ok(all)
}

/// `kind`, `kind_desc`, and the space that names are unique in.
fn kind_of(component: &Component) -> (&'static str, &'static str, &'static str, &'static str) {
    match (component.kind, component.is_complex) {
        (ComponentKind::Element, _) => ("E", "ELEMENT", "E", "ELEMENT"),
        (ComponentKind::Attribute, _) => ("A", "ATTRIBUTE", "A", "ATTRIBUTE"),
        (ComponentKind::Type, true) => ("C", "COMPLEX_TYPE", "T", "TYPE"),
        (ComponentKind::Type, false) => ("S", "SIMPLE_TYPE", "T", "TYPE"),
        (ComponentKind::Group, _) => ("M", "MODEL_GROUP", "M", "MODEL_GROUP"),
        (ComponentKind::AttributeGroup, _) => ("G", "ATTRIBUTE_GROUP", "G", "ATTRIBUTE_GROUP"),
    }
}

view! {
    COMPONENTS = "sys.xml_schema_components" of Part as p, rows components;
    xml_component_id int = p.id;
    xml_collection_id int = p.collection;
    xml_namespace_id int = p.namespace;
    is_qualified bit = true;
    name nvarchar(4000) null = &*p.of.name.local;
    symbol_space char(1) = kind_of(&p.of).2;
    symbol_space_desc nvarchar(60) null = kind_of(&p.of).3;
    kind char(1) = kind_of(&p.of).0;
    kind_desc nvarchar(60) null = kind_of(&p.of).1;
    derivation char(1) = if p.of.ty.is_some() && p.of.kind == ComponentKind::Type { "R" } else { "N" };
    derivation_desc nvarchar(60) null =
        if p.of.ty.is_some() && p.of.kind == ComponentKind::Type { "RESTRICTION" } else { "NONE" };
    base_xml_component_id int null = p.base;
    scoping_xml_component_id int null = NULL;
}

/// A column of a collection.
type ColumnUse = (i32, i32, i32);

fn column_uses(context: &Context<'_>, _: &[Value]) -> Result<Vec<ColumnUse>, SqlError> {
    let mut all = Vec::new();
    for object in context.database.catalog.objects_in(context.scope()) {
        let ObjectRef::Table(table) = object else { continue };
        for (column, id) in table.columns.iter().zip(1..) {
            let (collection, _) = crate::types_table::xml_of(column.ty);
            if collection != 0 {
                all.push((table.object_id, id, collection));
            }
        }
    }
    Ok(all)
}

view! {
    COLUMN_USES = "sys.column_xml_schema_collection_usages" of ColumnUse as u, rows column_uses;
    object_id int = u.0;
    column_id int = u.1;
    xml_collection_id int = u.2;
}

fn xml_indexes(context: &Context<'_>, _: &[Value]) -> Result<Vec<Index>, SqlError> {
    Ok(indexes::all(context).into_iter().filter(|index| index.xml().is_some()).collect())
}

/// Of a secondary index its type.
fn secondary(index: Option<&XmlIndex>) -> Option<(&'static str, &'static str)> {
    index.and_then(|xml| xml.kind.secondary())
}

view! {
    XML_INDEXES = "sys.xml_indexes" of Index as i, rows xml_indexes;
    object_id int = i.table.object_id;
    name sysname null = i.name.as_deref();
    index_id int = i.id;
    type tinyint = 3u8;
    type_desc nvarchar(60) null = "XML";
    is_unique bit null = false;
    data_space_id int null = i.data_space_id;
    ignore_dup_key bit null = false;
    is_primary_key bit null = false;
    is_unique_constraint bit null = false;
    fill_factor tinyint = i.fill_factor();
    is_padded bit null = i.options().padded;
    is_disabled bit null = i.xml().is_some_and(|xml| xml.is_off);
    is_hypothetical bit null = false;
    is_ignored_in_optimization bit null = false;
    allow_row_locks bit null = !i.options().no_row_locks;
    allow_page_locks bit null = !i.options().no_page_locks;
    using_xml_index_id int null = i.xml().map(|xml| xml.primary).filter(|id| *id != 0);
    secondary_type char(1) null = secondary(i.xml()).map(|kind| kind.0);
    secondary_type_desc nvarchar(60) null = secondary(i.xml()).map(|kind| kind.1);
    has_filter bit = false;
    filter_definition nvarchar(max) null = NULL;
    xml_index_type tinyint null = secondary(i.xml()).map_or(0u8, |_| 1);
    xml_index_type_description nvarchar(60) null =
        secondary(i.xml()).map_or("PRIMARY_XML", |_| "SECONDARY_XML");
    path_id int null = NULL;
    auto_created bit null = false;
}
