//! The tools that a body declares.

use super::super::finding::Log;
use super::super::tools::parse;

#[test]
fn sections_are_found() {
    for (body, expected) in [
        ("No tools here\n- a\n", vec![]),
        // As trpc-agent-python reads it.
        ("Tools:\n- get_weather\n- get_forecast\n\nOverview\n- no\n", vec!["get_weather", "get_forecast"]),
        ("  TOOLS: these\n\n- a\n# - b\n# c\n- # d\n-e\nUsage: x\n- no\n", vec!["a", "e"]),
        ("Tools:\r\n- a\r\n- a\r\n- b\r\nWhen: x\r\n- no\r\n", vec!["a", "b"]),
        ("Tools:\nSome words\n- a\n", vec!["a"]),
        // A heading ends it there too, which trpc-agent-python overlooks.
        ("Tools:\n- a\n\n## Steps\n- no\n", vec!["a"]),
        // As a list under a heading.
        (
            "# Skill\n\n## Tools\n\nThe skill has: two\n\n* `a` - does a\n* **b**: does b\n  - no\n\n## Next\n- no\n",
            vec!["a", "b"],
        ),
        ("### Tools: ###\n+ a.b/c (old)\n+ mcp:x\n# - b\n<!-- - c -->\n<!--\n- d\n-->\n", vec!["a.b/c", "mcp:x"]),
        ("## Toolsmith\n- no\n", vec![]),
        // Not in code.
        ("```\nTools:\n- no\n```\n~~~~\n```\n## Tools\n- no\n~~~~\n- no\n", vec![]),
        ("Tools:\n---\n- a\n", vec!["a"]),
        ("Tools:", vec![]),
        ("Tools:\n- wetter_für_öl\n", vec!["wetter_für_öl"]),
    ] {
        let mut log = Log::new(body);
        assert_eq!(parse(body, 0, &mut log), expected, "{body:?}");
        assert_eq!(log.into_findings(), [], "{body:?}");
    }
}

#[test]
fn sentences_are_no_names() {
    let body = "Tools:\n- a\n- Use the browser\n  - whatever it is\n- ***\n- (b)\n";
    let mut log = Log::new(body);
    assert_eq!(parse(body, 0, &mut log), ["a"]);
    let findings: Vec<_> = log.into_findings().into_iter().map(|f| (f.line, f.column, f.code)).collect();
    assert_eq!(findings, [(3, 1, "tool-name"), (5, 1, "tool-name"), (6, 1, "tool-name")]);
}
