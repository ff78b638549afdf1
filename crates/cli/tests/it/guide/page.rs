//! A page of the guide: its blocks, and the files and commands that they hold.

/// A fenced block of a page.
#[derive(Debug, PartialEq)]
pub(crate) struct Block {
    /// The language, then the marks behind it, as in "console gpu".
    pub(crate) language: String,
    pub(crate) mark: String,
    pub(crate) text: String,
    /// The line of the fence.
    pub(crate) line: usize,
}

/// A file that a block holds.
#[derive(Debug, PartialEq)]
pub(crate) struct File<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    /// True if the block adds to the file of an earlier one.
    pub(crate) continued: bool,
}

/// A command of a `console` block, with the lines that follow it.
#[derive(Debug, PartialEq)]
pub(crate) struct Command {
    pub(crate) text: String,
    pub(crate) printed: Vec<String>,
    pub(crate) line: usize,
}

/// Returns the fenced blocks of `page` in order. The indentation of a fence counts for its lines.
pub(crate) fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<(Block, usize)> = None;
    for (number, line) in (1..).zip(page.lines()) {
        let bare = line.trim_start();
        let Some(info) = bare.strip_prefix("```") else {
            if let Some((block, indent)) = &mut open {
                let spaces = line.len() - bare.len();
                block.text.push_str(&line[spaces.min(*indent)..]);
                block.text.push('\n');
            }
            continue;
        };
        if let Some((block, _)) = open.take() {
            found.push(block);
            continue;
        }
        let (language, mark) = info.trim().split_once(' ').unwrap_or((info.trim(), ""));
        let block = Block { language: language.into(), mark: mark.into(), text: String::new(), line: number };
        open = Some((block, line.len() - bare.len()));
    }
    assert!(open.is_none(), "a block has no end");
    found
}

/// Returns the file that `block` holds: its first line is a comment with nothing but a name, or
/// with a name and ", continued".
pub(crate) fn file(block: &Block) -> Option<File<'_>> {
    let (first, _) = block.text.split_once('\n')?;
    let comment = ["//", "#", "/*"].into_iter().find_map(|leader| first.strip_prefix(leader))?;
    let words = comment.trim().trim_end_matches("*/").trim();
    let (name, continued) = words.strip_suffix(", continued").map_or((words, false), |name| (name, true));
    let is_name = !name.contains(char::is_whitespace) && (name.contains('.') || name == "Makefile");
    is_name.then_some(File { name, text: &block.text, continued })
}

/// Returns the commands of a `console` block: lines behind `$ `, which go on behind a backslash.
pub(crate) fn commands(block: &Block) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let mut goes_on = false;
    for (line, text) in (block.line + 1..).zip(block.text.lines()) {
        match (text.strip_prefix("$ "), found.last_mut()) {
            (_, Some(last)) if goes_on => last.text = format!("{}\n{text}", last.text),
            (Some(command), _) => found.push(Command { text: command.into(), printed: Vec::new(), line }),
            (None, Some(last)) => last.printed.push(text.into()),
            (None, None) => panic!("line {line}: a console block begins with a command"),
        }
        goes_on = (goes_on || text.starts_with("$ ")) && text.ends_with('\\');
    }
    found
}

/// Returns the commands of an `sh` block: its lines, which go on behind a backslash.
pub(crate) fn script(block: &Block) -> Vec<Command> {
    let prompted: String = block.text.lines().map(|line| format!("$ {line}\n")).collect();
    let joined = prompted.replace("\\\n$ ", "\\\n");
    commands(&Block { language: String::new(), mark: String::new(), text: joined, line: block.line })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "text\n\n```c\n// a.c\nint a;\n```\n- item\n  ```console gpu\n  $ one \\\n    two\n  x\n  $ three\n  ```\n";

    #[test]
    fn blocks_files_and_commands_are_found() {
        let found = blocks(PAGE);
        assert_eq!(found.len(), 2);
        let text = "// a.c\nint a;\n";
        assert_eq!(file(&found[0]), Some(File { name: "a.c", text, continued: false }));
        assert_eq!((found[1].language.as_str(), found[1].mark.as_str()), ("console", "gpu"));
        let first = Command { text: "one \\\n  two".into(), printed: vec!["x".into()], line: 9 };
        let second = Command { text: "three".into(), printed: Vec::new(), line: 12 };
        assert_eq!(commands(&found[1]), [first, second]);
    }

    #[test]
    fn the_lines_of_a_script_are_commands() {
        let block = &blocks("```sh\none \\\n  two\nthree\n```\n")[0];
        let of = |(text, line): (&str, usize)| Command { text: text.into(), printed: Vec::new(), line };
        assert_eq!(script(block), [("one \\\n  two", 2), ("three", 4)].map(of));
    }

    #[test]
    fn a_comment_that_is_a_sentence_names_no_file() {
        let of = |first: &str| {
            let block =
                Block { language: "c".into(), mark: String::new(), text: format!("{first}\nint a;\n"), line: 1 };
            file(&block).map(|file| (file.name.to_string(), file.continued))
        };
        assert_eq!(of("// the kernel of a.c"), None);
        assert_eq!(of("int a; // a.c"), None);
        assert_eq!(of("/* a.h */"), Some(("a.h".into(), false)));
        assert_eq!(of("# p.toml, continued"), Some(("p.toml".into(), true)));
    }
}
