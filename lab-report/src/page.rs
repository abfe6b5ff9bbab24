//! The page: template, style, scripts and data put together as one file.
//!
//! Invariants:
//! - Data never ends its element: every `<` in it is written `\u003c`, which JSON reads as the same text.
//! - Nothing but the two scripts built in runs, and nothing is loaded: the content security policy names the scripts by
//!   their SHA-256 and allows no address at all.

use sha2::{Digest, Sha256};

const TEMPLATE: &str = include_str!("../assets/page.html");
const STYLE: &str = include_str!("../assets/style.css");

/// Apache ECharts, as published. Its SHA-256 is checked by a test.
const CHARTS: &str = include_str!("../vendor/echarts-6.1.0/echarts.min.js");

/// In the order of use; they are one script, with one scope.
const SCRIPTS: &[&str] = &[
    include_str!("../assets/js/format.js"),
    include_str!("../assets/js/dom.js"),
    include_str!("../assets/js/table.js"),
    include_str!("../assets/js/chart.js"),
    include_str!("../assets/js/model.js"),
    include_str!("../assets/js/overview.js"),
    include_str!("../assets/js/cell.js"),
    include_str!("../assets/js/flame.js"),
    include_str!("../assets/js/run.js"),
    include_str!("../assets/js/compare.js"),
    include_str!("../assets/js/main.js"),
];

/// The page that shows `json`.
pub(crate) fn render(title: &str, json: &str) -> String {
    let script = format!("(() => {{\n\"use strict\";\n{}}})();\n", SCRIPTS.concat());
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}' 'sha256-{}'; style-src 'unsafe-inline'; img-src data: blob:; \
         base-uri 'none'; form-action 'none'",
        sha256(CHARTS),
        sha256(&script)
    );
    let generator = concat!("millrace ", env!("CARGO_PKG_VERSION"));
    let title = escape(title);
    let data = json.replace('<', "\\u003c");
    fill(TEMPLATE, |name| match name {
        "policy" => &policy,
        "generator" => generator,
        "title" => &title,
        "style" => STYLE,
        "charts" => CHARTS,
        "script" => &script,
        "data" => &data,
        _ => unreachable!("the template has no other names"),
    })
}

/// Replaces each `{{name}}` of the template; what is put in is not looked at again.
fn fill<'a>(template: &'a str, value: impl Fn(&str) -> &'a str) -> String {
    let mut out = String::with_capacity(template.len() + CHARTS.len() + (1 << 18));
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the template closes what it opens");
        out.push_str(before);
        out.push_str(value(name));
        rest = after;
    }
    out.push_str(rest);
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// In base64, as the policy wants it.
fn sha256(text: &str) -> String {
    base64(&Sha256::digest(text.as_bytes()))
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .enumerate()
            .fold(0u32, |bits, (i, b)| bits | u32::from(*b) << (16 - 8 * i));
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            out.push(if digit <= chunk.len() { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of the file in the npm package, as its registry has it.
    const CHARTS_SHA256: &str = "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0";

    #[test]
    fn the_chart_library_is_as_published() {
        let sum: String = Sha256::digest(CHARTS).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(sum, CHARTS_SHA256);
    }

    #[test]
    fn base64_of_the_standard() {
        for (text, want) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), want);
        }
    }

    #[test]
    fn data_stays_inside_its_element() {
        let json =
            serde_json::to_string("</script><script>alert(1)</script><!--<script>{{script}}")
                .unwrap();
        let page = render("a<b & \"c\"", &json);
        assert!(page.contains("<title>a&lt;b &amp; &quot;c&quot;</title>"));
        assert!(!page.contains("alert(1)</script>"));
        let (_, after) = page.split_once("id=\"data\">").unwrap();
        let (inside, _) = after.split_once("</script>").unwrap();
        assert!(!inside.contains('<'));
        assert_eq!(
            serde_json::from_str::<String>(inside).unwrap(),
            serde_json::from_str::<String>(&json).unwrap()
        );
    }

    #[test]
    fn no_script_ends_early_and_nothing_is_loaded() {
        for script in SCRIPTS.iter().chain([&CHARTS]) {
            assert!(!script.to_ascii_lowercase().contains("</script"));
        }
        let page = render("x", "{}");
        assert_eq!(page.matches("<script").count(), 3, "data, charts, script");
        for loader in ["src=\"http", "href=\"http", "<link", "@import", "url(http"] {
            assert!(!page.contains(loader), "{loader}");
        }
    }
}
