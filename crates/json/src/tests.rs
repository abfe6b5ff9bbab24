//! Cases from the SQL documentation of the JSON functions, and what breaks.

use super::*;

fn at<'t>(text: &'t str, path: &str) -> Result<Option<&'t str>, JsonError> {
    Ok(find(text, &Path::parse(path, false)?)?.map(|node| node.raw()))
}

fn set(text: &str, path: &str, new: Option<&str>) -> String {
    modify(text, &Path::parse(path, true).unwrap(), new).unwrap()
}

#[test]
fn paths_lead_to_values() {
    let text = r#"{"info":{"type":1,"address":{"town":"Bristol","county":"Avon"},"tags":["Sport","Water polo"]},"a b":null}"#;
    assert_eq!(at(text, "$.info.address.town"), Ok(Some("\"Bristol\"")));
    assert_eq!(at(text, "lax $.info.tags[1]"), Ok(Some("\"Water polo\"")));
    assert_eq!(at(text, "$.\"a b\""), Ok(Some("null")));
    assert_eq!(at(text, "$.info.none"), Ok(None));
    assert_eq!(at(text, "strict $.info.none"), Err(JsonError::NotFound));
    assert_eq!(at(text, "$.info[0]"), Ok(None));
    assert_eq!(at("[1, [2, 3]]", "$[1][0]"), Ok(Some("2")));
    assert_eq!(at("{\"a\":1,\"a\":2}", "$.a"), Ok(Some("1")), "the first of two counts");
}

#[test]
fn a_quoted_name_of_a_path_has_the_escapes_of_json() {
    let text = r#"{"a\tb": 1, "emo\ud83e\udd21'ji": 2, "back\\slash": 3, "q\"": 4}"#;
    for (path, value) in [
        (r#"$."a\tb""#, "1"),
        ("$.\"a\tb\"", "1"),
        (r#"$."emo\ud83e\udd21'ji""#, "2"),
        ("$.\"emo🤡'ji\"", "2"),
        (r#"$."back\\slash""#, "3"),
        (r#"$."q\"""#, "4"),
    ] {
        assert_eq!(at(text, path), Ok(Some(value)), "{path}");
    }
}

#[test]
fn broken_texts_and_paths_are_told_with_their_place() {
    assert_eq!(check("{\"a\":1,}"), Err(JsonError::Text { found: '}', position: 7 }));
    assert_eq!(check("{\"a\""), Err(JsonError::Text { found: '.', position: 4 }));
    assert_eq!(check("[01]"), Err(JsonError::Text { found: '1', position: 2 }));
    assert_eq!(at("abc", "$.a"), Err(JsonError::Text { found: 'a', position: 0 }));
    assert_eq!(at("{}", "a"), Err(JsonError::Path { found: 'a', position: 0 }));
    assert_eq!(at("{}", "$.a-b"), Err(JsonError::Path { found: '-', position: 3 }));
    let deep = "[".repeat(129) + &"]".repeat(129);
    assert_eq!(check(&deep), Err(JsonError::TooDeep));
    assert_eq!(check(&("[".repeat(128) + &"]".repeat(128))), Ok(Kind::Array));
}

#[test]
fn every_prefix_of_a_text_is_broken() {
    let text = r#"{"ä":[1.5e-3,true,false,null,"\u00e4\n",{"x":{}}],"y":"z"}"#;
    assert_eq!(check(text), Ok(Kind::Object));
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        assert!(check(&text[..end]).is_err(), "{}", &text[..end]);
    }
}

#[test]
fn strings_come_back_as_they_went() {
    for text in ["", "a\"b\\c/d", "\u{1}\n\t\u{8}\u{c}\r", "ä€😀"] {
        let mut quoted = String::new();
        quote_into(text, &mut quoted);
        assert_eq!(check(&format!("[{quoted}]")), Ok(Kind::Array));
        assert_eq!(unquote(&quoted), text);
    }
    assert_eq!(unquote(r#""\ud83d\ude00""#), "😀");
}

/// The examples of JSON_MODIFY's page.
#[test]
fn modify_changes_one_place() {
    let text = r#"{"name":"John","skills":["C#","SQL"]}"#;
    assert_eq!(set(text, "$.name", Some("\"Mike\"")), r#"{"name":"Mike","skills":["C#","SQL"]}"#);
    assert_eq!(
        set(text, "$.surname", Some("\"Smith\"")),
        r#"{"name":"John","skills":["C#","SQL"],"surname":"Smith"}"#
    );
    assert_eq!(set(text, "$.name", None), r#"{"skills":["C#","SQL"]}"#);
    assert_eq!(set(text, "strict $.name", None), r#"{"name":null,"skills":["C#","SQL"]}"#);
    assert_eq!(set(text, "$.skills", None), r#"{"name":"John"}"#);
    assert_eq!(set(text, "$.skills[0]", None), r#"{"name":"John","skills":[null,"SQL"]}"#);
    assert_eq!(
        set(text, "append $.skills", Some("\"Azure\"")),
        r#"{"name":"John","skills":["C#","SQL","Azure"]}"#
    );
    assert_eq!(
        set(text, "append $.more", Some("1")),
        r#"{"name":"John","skills":["C#","SQL"],"more":[1]}"#
    );
    assert_eq!(set("{}", "$.a", Some("1")), r#"{"a":1}"#);
    assert_eq!(set(text, "$.x.y", Some("1")), text);
    let strict = Path::parse("strict $.x", true).unwrap();
    assert_eq!(modify(text, &strict, Some("1")), Err(JsonError::NotFound));
    let refused = |path: &str| modify(text, &Path::parse(path, true).unwrap(), Some("1"));
    assert_eq!(refused("append strict $.x"), Err(JsonError::NotFound));
    assert_eq!(refused("append strict $.name"), Err(JsonError::NotAnArray));
    assert_eq!(refused("append $.name").as_deref(), Ok(text));
    assert_eq!(refused("$"), Err(JsonError::Root));
}
