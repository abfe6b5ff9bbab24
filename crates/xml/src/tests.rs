//! Whole trips: text in, query, text out.

use crate::*;
use std::sync::Arc;

fn read(text: &str) -> Result<Arc<Document>, XmlError> {
    parse(text, Options { preserve: false, encoding: Encoding::Wide }).map(Arc::new)
}

fn ask(text: &str, query: &str) -> String {
    let doc = read(text).expect("well-formed");
    let query = match Query::compile(query, &[]) {
        Ok(query) => query,
        Err(e) => return format!("error: {e}"),
    };
    match query.document(&NodeRef::root(doc), &[]) {
        Ok(doc) => doc.write(0),
        Err(e) => format!("error {}", e.number()),
    }
}

#[test]
fn texts_come_back_as_sql_server_writes_them() {
    for (text, written) in [
        ("<a></a>", "<a/>"),
        ("<?xml version='1.0'?> <a  b='1' >  <c/> x </a>", "<a b=\"1\"><c/> x </a>"),
        ("one <b/> two", "one <b/> two"),
        ("<a>&lt;&#65;&quot;<![CDATA[<&>]]></a>", "<a>&lt;A\"&lt;&amp;&gt;</a>"),
        ("<a b='x\ny&#10;\"'/>", "<a b=\"x y&#x0A;&quot;\"/>"),
        (
            "<a b='1' xmlns:p='u' p:c='2'><p:d/></a>",
            "<a xmlns:p=\"u\" b=\"1\" p:c=\"2\"><p:d/></a>",
        ),
        ("<a xml:space='preserve'> </a>", "<a xml:space=\"preserve\"> </a>"),
        ("<a>&#32;</a>", "<a> </a>"),
        ("<a>\r\n x</a>", "<a>\n x</a>"),
        ("<!-- c --><?p  x y?><a/>", "<!-- c --><?p x y?><a/>"),
        ("", ""),
    ] {
        assert_eq!(read(text).expect(text).write(0), written, "{text}");
    }
}

#[test]
fn what_is_not_well_formed_is_told_with_its_place() {
    for (text, number, place) in [
        ("<a></b>", 9436, "line 1, character 7"),
        ("<a>", 9400, "line 1, character 3"),
        ("<a>&</a>", 9421, "line 1, character 5"),
        ("<a>&x </a>", 9411, "line 1, character 6"),
        ("<a b=1/>", 9413, "line 1, character 6"),
        ("<a b='1' b='2'/>", 9437, "line 1, character 14"),
        ("<1/>", 9455, "line 1, character 2"),
        ("\n<a b='<'/>", 9415, "line 2, character 7"),
        ("<p:a/>", 9459, "line 1, character 6"),
        ("<?xml version=\"1.0\" encoding=\"utf-8\"?><a/>", 9402, "line 1, character 38"),
        ("<a>\u{1}</a>", 9420, "line 1, character 4"),
        ("</a>", 9422, "line 1, character 4"),
    ] {
        let error = read(text).expect_err(text);
        assert_eq!(error.number(), number, "{text}: {error}");
        assert!(error.text().contains(place), "{text}: {error}");
    }
    assert_eq!(read("<!DOCTYPE a []><a/>").expect_err("a DTD").number(), 6359);
    let deep = |n: usize| "<a>".repeat(n) + &"</a>".repeat(n);
    assert!(read(&deep(128)).is_ok());
    assert_eq!(read(&deep(129)).expect_err("deep").number(), 6335);
}

const SHOP: &str =
    "<s><i id='1' p='2.5'><n>Ham</n></i><i id='2' p='10'><n>Egg</n><n>Ei</n></i>t<i id='3'/></s>";

#[test]
fn queries_find_what_they_name() {
    for (query, found) in [
        ("/s/i[1]/n", "<n>Ham</n>"),
        ("(/s/i/n)[2]", "<n>Egg</n>"),
        ("/s/i[@id = 2]/n[2]/text()", "Ei"),
        ("//n[. = \"Egg\"]/../n", "<n>Egg</n><n>Ei</n>"),
        ("count(//i)", "3"),
        ("sum(//i/@p)", "12.5"),
        ("/s/i[@p > 3]/n[1]", "<n>Egg</n>"),
        ("/s/i[not(n)]", "<i id=\"3\"/>"),
        ("/s/i[last()]", "<i id=\"3\"/>"),
        ("/s/i[position() < 3][2]/n[1]", "<n>Egg</n>"),
        ("/s/text()", "t"),
        (
            "for $i in /s/i where $i/@p order by $i/@p descending return <x>{ data($i/@id) }</x>",
            "<x>1</x><x>2</x>",
        ),
        ("for $i in /s/i order by number($i/@id) descending return string($i/@id)", "3 2 1"),
        ("<r a=\"{1 + 1}\">{ /s/i[3] } z</r>", "<r a=\"2\"><i id=\"3\"/> z</r>"),
        ("element r { attribute q { 7 } }", "<r q=\"7\"/>"),
        ("if (/s/i) then \"y\" else \"n\"", "y"),
        ("concat(\"a\", string((/s/i/n)[1]), 'b')", "aHamb"),
        ("substring(\"hello\", 2, 3)", "ell"),
        ("some $i in //i satisfies $i/@id = 3", "true"),
        ("let $x := //n return count($x)", "3"),
        ("distinct-values((1, 2, 1))", "1 2"),
        ("local-name((//@p)[1])", "p"),
        ("(: note (: inner :) :) 1 div 2", "0.5"),
        ("xs:int(\"x\")", ""),
        ("7 mod 4, -3", "3 -3"),
        ("/s/descendant::n[1]", "<n>Ham</n>"),
        ("/s/*[self::i][2]/@id/../n[2]", "<n>Ei</n>"),
    ] {
        assert_eq!(ask(SHOP, query), found, "{query}");
    }
}

#[test]
fn namespaces_are_resolved_and_written() {
    let doc = "<a xmlns='u' xmlns:q='v'><q:b c='1'><d/></q:b></a>";
    assert_eq!(
        ask(doc, "declare namespace x='v'; //x:b"),
        "<q:b xmlns:q=\"v\" c=\"1\"><d xmlns=\"u\"/></q:b>"
    );
    assert_eq!(ask(doc, "declare default element namespace 'u'; /a/*/d"), "<d xmlns=\"u\"/>");
    assert_eq!(ask(doc, "//*:d"), "<d xmlns=\"u\"/>");
    assert_eq!(ask(doc, "/a"), "");
    assert!(ask(doc, "/z:a").contains("\"z\" does not denote a namespace"));
}

#[test]
fn one_is_proved_before_it_runs() {
    let single = |q: &str| Query::compile(q, &[]).expect(q).check_singleton("value()").is_ok();
    for q in [
        "(/a/b)[1]",
        "/a[1]/b[1]",
        "@id",
        ".",
        "string(.)",
        "(a/@id)[1]",
        "../@x",
        "count(//a)",
        "(a)[last()]",
    ] {
        assert!(single(q), "{q}");
    }
    for q in ["/a/b", "a", "/a[1]/b", "//a[1]", "/a[@id=1]", "text()", "(a, b)", "@*"] {
        assert!(!single(q), "{q}");
    }
    let e = Query::compile("contains(/a/b, 'x')", &[]).expect_err("several");
    assert!(e.to_string().contains("'contains()' requires a singleton"), "{e}");
}

#[test]
fn changes_change() {
    let change = |text: &str, dml: &str| {
        let doc = read(text).expect(text);
        match Change::compile(dml, &[]) {
            Ok(c) => match c.apply(&doc, &[]) {
                Ok(Some(new)) => new.write(0),
                Ok(None) => "same".into(),
                Err(e) => format!("error {}", e.number()),
            },
            Err(e) => format!("error: {e}"),
        }
    };
    for (dml, after) in [
        ("insert <n/> into (/a)[1]", "<a><b c=\"1\">x</b><n/></a>"),
        ("insert <n/> as first into (/a)[1]", "<a><n/><b c=\"1\">x</b></a>"),
        ("insert (<n/>, <m/>) before (/a/b)[1]", "<a><n/><m/><b c=\"1\">x</b></a>"),
        ("insert <n/> after (/a/b)[1]", "<a><b c=\"1\">x</b><n/></a>"),
        ("insert attribute d {2} into (/a/b)[1]", "<a><b c=\"1\" d=\"2\">x</b></a>"),
        ("insert attribute c {2} into (/a/b)[1]", "error 6308"),
        ("delete //b/@c", "<a><b>x</b></a>"),
        ("delete /a/b", "<a/>"),
        ("delete /a/z", "same"),
        ("replace value of (/a/b/text())[1] with \"y\"", "<a><b c=\"1\">y</b></a>"),
        ("replace value of (/a/b/@c)[1] with 1 + 1", "<a><b c=\"2\">x</b></a>"),
    ] {
        assert_eq!(change("<a><b c='1'>x</b></a>", dml), after, "{dml}");
    }
    assert!(change("<a/>", "insert <n/> into /a").contains("must be a single node"));
    assert!(change("<a/>", "replace value of /a/b with 1").contains("at most one node"));
}

/// Texts made of what may hurt: nothing panics, and what parses comes back the same.
#[test]
fn odd_texts_do_no_harm() {
    const PARTS: &[&str] = &[
        "<",
        ">",
        "</",
        "/>",
        "a",
        "b:",
        "'",
        "\"",
        "=",
        "&",
        ";",
        "amp",
        "#x",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "/",
        "//",
        "@",
        ".",
        "..",
        "*",
        "::",
        "child",
        "for $x in ",
        " return ",
        "$x",
        " eq ",
        "1",
        ".5",
        "-",
        "+",
        " or ",
        "text()",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<?",
        "?>",
        "xmlns",
        "é",
        "\u{1f600}",
        " ",
        "\n",
        "insert ",
        " into ",
        "delete ",
        "replace value of ",
        " with ",
        ",",
        "string(",
        "if (",
        " then ",
        " else ",
        "declare namespace ",
        "sql:variable(",
        "(:",
        ":)",
        "<a>",
        "</a>",
        "<a b='c'>",
        "xs:int(",
    ];
    let mut seed = 0x2545_F491_4F6C_DD1Du64;
    let mut next = move |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n as u64) as usize
    };
    let doc = read(SHOP).expect("well-formed");
    for _ in 0..60_000 {
        let text: String = (0..1 + next(12)).map(|_| PARTS[next(PARTS.len())]).collect();
        if let Ok(parsed) = read(&text) {
            let written = parsed.write(0);
            let again = parse(&written, Options { preserve: true, encoding: Encoding::Wide });
            assert_eq!(again.expect(&written).write(0), written, "{text}");
        }
        if let Ok(query) = Query::compile(&text, &[]) {
            let nothing = vec![None; query.externals().len()];
            let _ = query.document(&NodeRef::root(doc.clone()), &nothing);
        }
        if let Ok(change) = Change::compile(&text, &[]) {
            let nothing = vec![None; change.externals().len()];
            let _ = change.apply(&doc, &nothing);
        }
    }
    for deep in ["(", "a[", "-(", "<a>", "<a>{", "if (", "for $x in "] {
        assert!(Query::compile(&deep.repeat(100_000), &[]).is_err());
    }
    assert!(Query::compile(&format!("1{}", " + 1".repeat(100_000)), &[]).is_err());
    assert!(Query::compile(&format!("1{}", " + 1".repeat(400)), &[]).is_ok());
}
