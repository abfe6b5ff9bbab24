//! Schemas and documents, with what becomes of them.

use crate::{ComponentKind, Schema};
use xml::{Encoding, Options};

const XS: &str = "xmlns:xs=\"http://www.w3.org/2001/XMLSchema\"";

fn schema(inside: &str) -> Result<Schema, String> {
    let text = format!(
        "<xs:schema {XS} targetNamespace=\"urn:t\" xmlns=\"urn:t\" elementFormDefault=\"qualified\">{inside}</xs:schema>"
    );
    Schema::compile(&text).map_err(|e| format!("{}: {e}", e.number()))
}

/// What is kept of a document, or the error.
fn kept(schema: &Schema, text: &str, is_document: bool) -> String {
    let parsed = xml::parse(text, Options { preserve: false, encoding: Encoding::Known });
    match parsed.and_then(|doc| schema.accept(doc, is_document)) {
        Ok(doc) => doc.write(0),
        Err(e) => format!("{}: {e}", e.number()),
    }
}

/// Documents whose elements are of the default namespace `urn:t`.
#[track_caller]
fn check(inside: &str, cases: &[(&str, &str)]) {
    let schema = schema(inside).expect("a schema");
    for (text, expected) in cases {
        let text = text.replacen("<r", "<r xmlns=\"urn:t\"", 1);
        let found = kept(&schema, &text, false).replace(" xmlns=\"urn:t\"", "");
        let expected = expected.replace("{}", "{urn:t}");
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn a_sequence_says_what_it_expects() {
    check(
        "<xs:element name='r'><xs:complexType><xs:sequence><xs:element name='a' type='xs:int'/>\
         <xs:element name='b' type='xs:string' minOccurs='0' maxOccurs='2'/></xs:sequence>\
         <xs:attribute name='k' type='xs:int' use='required'/></xs:complexType></xs:element>",
        &[
            ("<r k='01'><a>007</a><b>x</b></r>", "<r k=\"1\"><a>7</a><b>x</b></r>"),
            (
                "<r k='1'/>",
                "6908: XML Validation: Invalid content. Expected element(s): '{}a'. Location: /*:r[1]",
            ),
            (
                "<r k='1'><b>x</b><a>1</a></r>",
                "6965: XML Validation: Invalid content. Expected element(s): '{}a'. Found: element '{}b' instead. Location: /*:r[1]/*:b[1].",
            ),
            (
                "<r k='1'><a>1</a><zz/></r>",
                "6965: XML Validation: Invalid content. Expected element(s): '{}b'. Found: element '{}zz' instead. Location: /*:r[1]/*:zz[1].",
            ),
            (
                "<r k='1'><a>1</a><b/><b/><b/></r>",
                "6923: XML Validation: Unexpected element(s): {}b. Location: /*:r[1]/*:b[3]",
            ),
            (
                "<r><a>1</a></r>",
                "6906: XML Validation: Required attribute 'k' is missing. Location: /*:r[1]",
            ),
            (
                "<r k='1' q='2'><a>1</a></r>",
                "6905: XML Validation: Attribute 'q' is not permitted in this context. Location: /*:r[1]/@*:q",
            ),
            (
                "<r k='1'>text<a>1</a></r>",
                "6909: XML Validation: Text node is not allowed at this location, the type was defined with element only content or with simple content. Location: /*:r[1]",
            ),
            (
                "<r k='x'><a>1</a></r>",
                "6926: XML Validation: Invalid simple type value: 'x'. Location: /*:r[1]/@*:k",
            ),
            (
                "<r k='1'><a>1<c/></a></r>",
                "6912: XML Validation: Element '{}c' found in text only content model. Location: /*:r[1]/*:a[1]/*:c[1]",
            ),
        ],
    );
}

#[test]
fn models_of_every_kind_are_followed() {
    let r = |model: &str| {
        format!("<xs:element name='r'><xs:complexType>{model}</xs:complexType></xs:element>")
    };
    let e = |name: &str, more: &str| format!("<xs:element name='{name}' type='xs:string' {more}/>");
    let ok = |inside: &str| (format!("<r>{inside}</r>"), format!("<r>{inside}</r>"));
    let cases = |list: &[&str]| list.iter().map(|inside| ok(inside)).collect::<Vec<_>>();
    let run = |model: String, list: &[&str], wrong: &[(&str, &str)]| {
        let all: Vec<(String, String)> = cases(list)
            .into_iter()
            .chain(wrong.iter().map(|(a, b)| (format!("<r>{a}</r>"), (*b).to_owned())))
            .collect();
        let all: Vec<(&str, &str)> = all.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        check(&r(&model), &all);
    };
    let (a, b, c) = (e("a", ""), e("b", ""), e("c", "minOccurs='0'"));
    run(
        format!("<xs:choice minOccurs='0' maxOccurs='unbounded'>{a}{b}</xs:choice>"),
        &["<a>1</a>", "<b>1</b><a>1</a><a>1</a>"],
        &[(
            "<c/>",
            "6965: XML Validation: Invalid content. Expected element(s): '{}a','{}b'. Found: element '{}c' instead. Location: /*:r[1]/*:c[1].",
        )],
    );
    run(
        format!("<xs:all>{a}{b}{c}</xs:all>"),
        &["<b>1</b><a>1</a>", "<c>1</c><a>1</a><b>1</b>"],
        &[
            (
                "<a/>",
                "6908: XML Validation: Invalid content. Expected element(s): '{}b','{}c'. Location: /*:r[1]",
            ),
            (
                "<a/><a/>",
                "6911: XML Validation: Found duplicate element '{}a' in all content model. Location: /*:r[1]/*:a[2]",
            ),
        ],
    );
    // Whose place is open: all ways are followed.
    run(
        format!(
            "<xs:sequence minOccurs='2' maxOccurs='2'>{}</xs:sequence>",
            e("a", "minOccurs='1' maxOccurs='2'")
        ),
        &["<a>1</a><a>1</a>", "<a>1</a><a>1</a><a>1</a>", "<a>1</a><a>1</a><a>1</a><a>1</a>"],
        &[
            (
                "<a/>",
                "6908: XML Validation: Invalid content. Expected element(s): '{}a'. Location: /*:r[1]",
            ),
            (
                "<a/><a/><a/><a/><a/>",
                "6923: XML Validation: Unexpected element(s): {}a. Location: /*:r[1]/*:a[5]",
            ),
        ],
    );
    run(
        format!(
            "<xs:sequence maxOccurs='unbounded'>{}{b}</xs:sequence>",
            e("a", "minOccurs='3' maxOccurs='3'")
        ),
        &[
            "<a>1</a><a>1</a><a>1</a><b>1</b>",
            "<a>1</a><a>1</a><a>1</a><b>1</b><a>1</a><a>1</a><a>1</a><b>1</b>",
        ],
        &[(
            "<a/><a/><b/>",
            "6965: XML Validation: Invalid content. Expected element(s): '{}a'. Found: element '{}b' instead. Location: /*:r[1]/*:b[1].",
        )],
    );
}

#[test]
fn simple_types_have_their_facets() {
    let of =
        |ty: &str| format!("<xs:element name='r'><xs:simpleType>{ty}</xs:simpleType></xs:element>");
    let wrong = |text: &str| {
        format!("6926: XML Validation: Invalid simple type value: '{text}'. Location: /*:r[1]")
    };
    check(
        &of(
            "<xs:restriction base='xs:string'><xs:enumeration value='AW'/><xs:enumeration value='4+'/></xs:restriction>",
        ),
        &[("<r>4+</r>", "<r>4+</r>"), ("<r>5</r>", &wrong("5"))],
    );
    check(
        &of(
            "<xs:restriction base='xs:decimal'><xs:totalDigits value='5'/><xs:fractionDigits value='2'/><xs:minExclusive value='0'/></xs:restriction>",
        ),
        &[
            ("<r>123.450</r>", "<r>123.45</r>"),
            ("<r>0</r>", &wrong("0")),
            ("<r>1.234</r>", &wrong("1.234")),
            ("<r>1234.56</r>", &wrong("1234.56")),
        ],
    );
    check(
        &of("<xs:restriction base='xs:decimal'><xs:pattern value='33\\.0+'/></xs:restriction>"),
        &[(
            "<r>33.000</r>",
            "6937: XML Validation: The canonical form of the value '33.000' is not valid according to the specified type. This can result from the use of pattern facets on non-string types or range restrictions or enumerations on floating-point types. Location: /*:r[1]",
        )],
    );
    check(
        &of("<xs:list itemType='xs:decimal'/>"),
        &[("<r> 1.50  2.00 </r>", "<r>1.5 2</r>"), ("<r/>", "<r/>"), ("<r>1 x</r>", &wrong("1 x"))],
    );
    check(
        &of("<xs:union memberTypes='xs:decimal xs:boolean'/>"),
        &[
            ("<r>2.50</r>", "<r>2.5</r>"),
            ("<r>1</r>", "<r>1</r>"),
            ("<r>true</r>", "<r>true</r>"),
            ("<r>x</r>", &wrong("x")),
        ],
    );
    check(
        &of("<xs:restriction base='xs:token'><xs:maxLength value='3'/></xs:restriction>"),
        &[("<r> a  b </r>", "<r>a b</r>"), ("<r>abcd</r>", &wrong("abcd"))],
    );
}

#[test]
fn wildcards_nil_types_and_defaults() {
    let rest = "<xs:element name='b' type='xs:byte'/>\
         <xs:complexType name='base'><xs:sequence><xs:element name='x' type='xs:int'/></xs:sequence></xs:complexType>\
         <xs:complexType name='more'><xs:complexContent><xs:extension base='base'><xs:sequence><xs:element name='y' type='xs:int'/></xs:sequence>\
         <xs:attribute name='z' type='xs:int' default='05'/></xs:extension></xs:complexContent></xs:complexType>\
         <xs:element name='head' type='xs:string' abstract='true'/><xs:element name='member' type='xs:string' substitutionGroup='head'/>";
    let r = |model: &str| {
        format!("<xs:element name='r'><xs:complexType>{model}</xs:complexType></xs:element>{rest}")
    };
    check(
        &r(
            "<xs:sequence><xs:any processContents='lax' namespace='##any' maxOccurs='9'/></xs:sequence>",
        ),
        &[
            ("<r><b>01</b><c>x</c></r>", "<r><b>1</b><c>x</c></r>"),
            (
                "<r><b>999</b></r>",
                "6926: XML Validation: Invalid simple type value: '999'. Location: /*:r[1]/*:b[1]",
            ),
            (
                "<r><c><b>x</b></c></r>",
                "6926: XML Validation: Invalid simple type value: 'x'. Location: /*:r[1]/*:c[1]/*:b[1]",
            ),
        ],
    );
    check(
        &r("<xs:sequence><xs:any/></xs:sequence>"),
        &[(
            "<r><c/></r>",
            "6913: XML Validation: Declaration not found for element '{}c'. Location: /*:r[1]/*:c[1]",
        )],
    );
    check(
        &r("<xs:sequence><xs:any processContents='skip'/></xs:sequence>"),
        &[("<r><b>x</b></r>", "<r><b>x</b></r>")],
    );
    check(
        &r("<xs:sequence><xs:element name='e' type='base'/></xs:sequence>"),
        &[
            ("<r><e><x>1</x></e></r>", "<r><e><x>1</x></e></r>"),
            (
                "<r><e xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:type='more'><x>1</x><y>2</y></e></r>",
                "<r><e xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"more\" z=\"5\"><x>1</x><y>2</y></e></r>",
            ),
            (
                "<r><e xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:xs='http://www.w3.org/2001/XMLSchema' xsi:type='xs:int'>1</e></r>",
                "6936: XML Validation: Invalid cast for element '{}e' from type '{}base' to type '{http://www.w3.org/2001/XMLSchema}int'. Location: /*:r[1]/*:e[1]",
            ),
        ],
    );
    check(
        &r("<xs:sequence><xs:element ref='head'/></xs:sequence>"),
        &[
            ("<r><member>1</member></r>", "<r><member>1</member></r>"),
            (
                "<r><head>1</head></r>",
                "6934: XML Validation: Element '{}head' requires substitution, because it was defined as abstract. Location: /*:r[1]/*:head[1]",
            ),
        ],
    );
    check(
        &r(
            "<xs:sequence><xs:element name='e' type='xs:int' nillable='true'/><xs:element name='d' type='xs:int' default='7' minOccurs='0'/><xs:element name='f' type='xs:int' fixed='1' minOccurs='0'/></xs:sequence>",
        ),
        &[
            (
                "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><e xsi:nil='true'/><d/><f/></r>",
                "<r xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><e xsi:nil=\"true\"/><d>7</d><f>1</f></r>",
            ),
            (
                "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><e xsi:nil='1'>1</e></r>",
                "6918: XML Validation: Element '{}e' must not have character or element children, because xsi:nil was set to true. Location: /*:r[1]/*:e[1]",
            ),
            (
                "<r><e>1</e><f>2</f></r>",
                "6921: XML Validation: Element or attribute '{}f' was defined as fixed, the element value has to be equal to value of 'fixed' attribute specified in definition. Location: /*:r[1]/*:f[1]",
            ),
            ("<r><e>1</e><f>01</f></r>", "<r><e>1</e><f>1</f></r>"),
        ],
    );
}

#[test]
fn tops_of_documents_and_fragments() {
    let schema = schema("<xs:element name='r' type='xs:int'/>").expect("a schema");
    let ns = "xmlns=\"urn:t\"";
    assert_eq!(
        kept(&schema, &format!("<r {ns}>1</r><r {ns}>2</r>"), false),
        format!("<r {ns}>1</r><r {ns}>2</r>")
    );
    assert_eq!(
        kept(&schema, &format!("<r {ns}>1</r><r {ns}>2</r>"), true),
        "6901: XML Validation: XML instance must be a document."
    );
    assert_eq!(kept(&schema, "", true), "6901: XML Validation: XML instance must be a document.");
    assert_eq!(kept(&schema, "", false), "");
    assert_eq!(
        kept(&schema, "<r>1</r>", false),
        "6913: XML Validation: Declaration not found for element 'r'. Location: /*:r[1]"
    );
    assert_eq!(
        kept(&schema, "text", false),
        "6909: XML Validation: Text node is not allowed at this location, the type was defined with element only content or with simple content. Location: /"
    );
}

#[test]
fn wrong_schemas_are_refused_by_number() {
    let complex = |inside: &str| format!("<xs:complexType name='t'>{inside}</xs:complexType>");
    let simple = |inside: &str| format!("<xs:simpleType name='t'>{inside}</xs:simpleType>");
    let cases: Vec<(i32, String)> = vec![
        (2308, "<xs:element name='r' type='nosuch'/>".into()),
        (2302, "<xs:element name='r'/><xs:element name='r'/>".into()),
        (2297, "<xs:element name='r'><xs:nosuch/></xs:element>".into()),
        (2299, "<xs:element/>".into()),
        (2391, "<xs:redefine schemaLocation='x'/>".into()),
        (9336, "<xs:include schemaLocation='x'/>".into()),
        (9336, "<xs:element name='r'><xs:unique name='u'/></xs:element>".into()),
        (6940, "<xs:sequence/>".into()),
        (2305, "<xs:element name='r' type='xs:int'><xs:simpleType><xs:restriction base='xs:int'/></xs:simpleType></xs:element>".into()),
        (6997, "<xs:element name='r' type='xs:int' nillable='true' fixed='1'/>".into()),
        (6927, "<xs:element name='r' type='xs:int' default='x'/>".into()),
        (6366, "<xs:element name='r' type='xs:ID'/>".into()),
        (2293, complex("<xs:choice/>")),
        (2382, complex("<xs:sequence><xs:element name='a' minOccurs='2'/></xs:sequence>")),
        (2309, complex("<xs:sequence><xs:element name='a' minOccurs='x'/></xs:sequence>")),
        (2383, complex("<xs:sequence><xs:element name='a' maxOccurs='99999999999'/></xs:sequence>")),
        (6958, complex("<xs:all><xs:element name='a' maxOccurs='2'/></xs:all>")),
        (6992, complex("<xs:sequence><xs:element name='a' type='xs:int'/><xs:element name='a' type='xs:byte'/></xs:sequence>")),
        (2310, complex("<xs:attribute name='a'/><xs:attribute name='a'/>")),
        (2366, complex("<xs:complexContent><xs:extension base='t'/></xs:complexContent>")),
        (6941, complex("<xs:complexContent><xs:extension base='xs:int'/></xs:complexContent>")),
        (6968, complex("<xs:simpleContent><xs:restriction base='xs:int'/></xs:simpleContent>")),
        (2237, complex("<xs:complexContent><xs:extension base='xs:anyType'/></xs:complexContent>")),
        (2316, simple("<xs:restriction/>")),
        (2366, simple("<xs:restriction base='t'/>")),
        (2319, simple("<xs:restriction base='xs:int'><xs:length value='1'/></xs:restriction>")),
        (2320, simple("<xs:restriction base='xs:string'><xs:length value='1'/><xs:length value='1'/></xs:restriction>")),
        (572, simple("<xs:restriction base='xs:string'><xs:pattern value='('/></xs:restriction>")),
        (6946, simple("<xs:restriction base='xs:string'><xs:minLength value='2'/><xs:maxLength value='1'/></xs:restriction>")),
        (6950, simple("<xs:restriction base='xs:decimal'><xs:totalDigits value='1'/><xs:fractionDigits value='2'/></xs:restriction>")),
        (6951, simple("<xs:restriction base='xs:int'><xs:minInclusive value='2'/><xs:maxInclusive value='1'/></xs:restriction>")),
        (6944, simple("<xs:restriction base='xs:byte'><xs:maxInclusive value='1000'/></xs:restriction>")),
        (2276, simple("<xs:restriction base='xs:QName'/>")),
        (6978, simple("<xs:list itemType='xs:NMTOKENS'/>")),
        (6903, simple("<xs:union memberTypes='xs:QName'/>")),
    ];
    for (number, inside) in cases {
        let found = schema(&inside).map(|_| ());
        let told = found.as_ref().err().and_then(|e| e.split(':').next()?.parse().ok());
        assert_eq!(told, Some(number), "{inside}: {found:?}");
    }
    assert_eq!(Schema::compile("<a/>").map_err(|e| e.number()).err(), Some(2378));
    let deep = "<xs:group name='g0'><xs:sequence><xs:element name='a'/></xs:sequence></xs:group>".to_owned()
        + &(1..200).map(|i| format!("<xs:group name='g{i}'><xs:sequence><xs:group ref='g{}'/><xs:group ref='g{}'/></xs:sequence></xs:group>", i - 1, i - 1)).collect::<String>();
    assert!(schema(&deep).is_err());
}

#[test]
fn more_is_added_and_nothing_is_changed() {
    let first =
        schema("<!-- a --><xs:annotation/><xs:element name='r' type='xs:int'/>").expect("a schema");
    assert!(!first.text().contains("annotation") && !first.text().contains("<!--"));
    let other = format!(
        "<xs:schema {XS} targetNamespace=\"urn:u\" xmlns:t=\"urn:t\"><xs:import namespace=\"urn:t\"/><xs:element name=\"s\"><xs:complexType><xs:sequence><xs:element ref=\"t:r\"/></xs:sequence></xs:complexType></xs:element></xs:schema>"
    );
    let both = first.with(&other).expect("both");
    assert_eq!(both.namespaces().iter().map(|n| &**n).collect::<Vec<_>>(), ["urn:t", "urn:u"]);
    assert_eq!(
        kept(&both, "<s xmlns='urn:u'><r xmlns='urn:t'>02</r></s>", true),
        "<s xmlns=\"urn:u\"><r xmlns=\"urn:t\">2</r></s>"
    );
    let again = first.with(first.text()).map_err(|e| e.number());
    assert_eq!(again.err(), Some(6310));
    let kinds: Vec<ComponentKind> = both.components().iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [ComponentKind::Element, ComponentKind::Element]);
    assert!(
        both.text_of("urn:u")
            .expect("text")
            .is_some_and(|text| text.contains("name=\"s\"") && !text.contains("name=\"r\""))
    );
    assert!(both.text_of("urn:x").expect("text").is_none());
}

#[test]
fn identifiers_are_unique_and_named_ones_are_there() {
    check(
        "<xs:element name='r'><xs:complexType><xs:sequence><xs:element name='a' minOccurs='0' maxOccurs='9'><xs:complexType>\
         <xs:attribute name='i' type='xs:ID'/><xs:attribute name='f' type='xs:IDREF'/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>",
        &[
            ("<r><a i='x'/><a f='x'/></r>", "<r><a i=\"x\"/><a f=\"x\"/></r>"),
            (
                "<r><a i='x'/><a i='x'/></r>",
                "6930: XML Validation: ID constraint check failed. Found attribute named 'i' with duplicate ID value 'x'. Location: /*:r[1]/*:a[2]/@*:i",
            ),
            (
                "<r><a f='y'/></r>",
                "6931: XML Validation: IDREF constraint check failed. Found attribute named 'f' with reference to ID value 'y', which does not exist",
            ),
        ],
    );
}

#[test]
fn values_have_types_for_queries() {
    let schema = schema("<xs:element name='r'><xs:complexType><xs:sequence><xs:element name='a' type='xs:int' maxOccurs='9'/></xs:sequence></xs:complexType></xs:element>").expect("a schema");
    let doc = xml::parse(
        "<r xmlns='urn:t'><a>9</a><a>10</a></r>",
        Options { preserve: false, encoding: Encoding::Known },
    )
    .expect("xml");
    let run = |doc: xml::Document| {
        let query = xml::Query::compile(
            "declare default element namespace \"urn:t\"; (/r/a)[1] < (/r/a)[2]",
            &[],
        )
        .expect("query");
        query
            .first(&xml::NodeRef::root(doc.into()), &[])
            .expect("a value")
            .map(|atom| atom.to_text())
    };
    assert_eq!(run(doc.clone()).as_deref(), Some("false"));
    assert_eq!(run(schema.annotate(doc).expect("typed")).as_deref(), Some("true"));
}

#[test]
fn numbers_stand_for_collections_while_they_are_held() {
    let schema =
        std::sync::Arc::new(schema("<xs:element name='r' type='xs:int'/>").expect("a schema"));
    let first = crate::Registered::new(7, schema.clone());
    let number = first.number();
    let more = first.altered(std::sync::Arc::new(Schema::compile("").expect("nothing")));
    assert_eq!(crate::current(number).map(|s| s.components().len()), Some(1));
    more.publish();
    assert_eq!(crate::current(number).map(|s| s.components().len()), Some(0));
    assert_eq!(crate::owner_of(number), Some(7));
    drop(first);
    assert!(crate::current(number).is_some());
    drop(more);
    assert!(crate::current(number).is_none() && crate::owner_of(number).is_none());
}

#[test]
fn large_schemas_take_time_in_proportion() {
    let values: String = (0..30_000).map(|i| format!("<xs:enumeration value='v{i}'/>")).collect();
    let elements: String =
        (0..3_000).map(|i| format!("<xs:element name='e{i}' type='t' minOccurs='0'/>")).collect();
    let text = format!(
        "<xs:simpleType name='t'><xs:restriction base='xs:string'>{values}</xs:restriction></xs:simpleType>\
         <xs:element name='r'><xs:complexType><xs:all>{elements}</xs:all></xs:complexType></xs:element>"
    );
    let schema = schema(&text).expect("a schema");
    let children: String = (0..3_000).map(|i| format!("<e{i}>v{i}</e{i}>")).collect();
    let found = kept(&schema, &format!("<r xmlns='urn:t'>{children}</r>"), true);
    assert!(found.ends_with("<e2999>v2999</e2999></r>"), "{}", &found[..found.len().min(300)]);
}
