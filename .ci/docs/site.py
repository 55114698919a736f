"""What mkdocs calls: it adds the repository's pages, and one of every SQL function.

Links between pages stay; a link to a folder or to source leads to the repository.
"""
import pathlib
import posixpath
import re
import subprocess
import sys

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/alike-sql/alike/blob/main/"


def tracked(*patterns):
    out = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
                         check=True, capture_output=True, text=True).stdout
    return [name for name in out.splitlines() if (ROOT / name).exists()]


def links(page, text, shown):
    """The links of a page's text, each to a page or picture of the site or to the repository."""
    def link(match):
        target, _, anchor = match[2].partition("#")
        if re.match(r"[a-z]+:", target) or not target:
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if path in shown:
            return match[0]
        if path + "/README.md" in shown and (ROOT / path).is_dir():
            return match[1] + target.rstrip("/") + "/README.md" + ("#" + anchor if anchor else "") + ")"
        return match[1] + REPOSITORY + path + ")"

    outside = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    for i, part in enumerate(outside):
        if part.startswith("```"):
            # The words after the language are for the tests.
            outside[i] = re.sub(r"\A```(\w+)[^\n]*", r"```\1", part)
        else:
            outside[i] = re.sub(r"(\]\()([^)\s]+)\)", link, part)
    return "".join(outside)


def anchor(heading):
    """The anchor that the toc makes of a heading."""
    heading = re.sub(r"[^\w\s-]", "", heading.lower()).strip()
    return re.sub(r"[-\s]+", "-", heading)


def section(page, name):
    """The heading under which a page shows a function, or None."""
    found = None
    for line in (ROOT / page).read_text().splitlines():
        if match := re.match(r"##+ (.*)", line):
            found = match[1]
        elif found and re.search(re.escape(name) + r"\b", line):
            return found
    return None


def functions():
    """The page of the functions: their arguments from the package's comment, what they
    do from their comments in PostgreSQL, and where the pages show them."""
    purposes = {}
    for path in sorted((ROOT / "migrations").glob("*.up.sql")):
        for name, text in re.findall(r"comment on function alike\.(\w+)\([^)]*\)\s+is\s+'((?:[^']|'')*)'", path.read_text()):
            purposes.setdefault(name, text.replace("''", "'"))
    out = ["# Functions", "", "Every function of SQL with its arguments, optional ones in brackets, and after a colon the columns of its rows. "
           "`alike_name` in SQLite is `alike.name` in PostgreSQL.", ""]
    for line in (ROOT / "sqlext/doc.go").read_text().splitlines():
        line = line.removeprefix("//").strip()
        if match := re.match(r"alike_(\w+)\(", line):
            name = match[1]
            out += [f"### `alike_{name}` {{ #alike_{name} }}", "", f"    {line}", ""]
            if name in purposes:
                out += [purposes[name][0].upper() + purposes[name][1:] + ".", ""]
            shown = []
            for title, page, spelled in (("SQLite", "sqlext/README.md", "alike_" + name), ("PostgreSQL", "migrations/FUNCTIONS.md", "alike." + name),
                                         ("PostgreSQL", "pgworker/README.md", "alike." + name), ("PostgreSQL", "pgworker/OPERATIONS.md", "alike." + name)):
                heading = section(page, spelled)
                if heading and not any(title + ":" in s for s in shown):
                    shown.append(f"{title}: [{heading}]({page}#{anchor(heading)})")
            if shown:
                out += ["Shown in " + "; ".join(shown) + ".", ""]
        elif line.endswith(":") and "(" not in line and len(out) > 4 or line == "Sketches, and what two of them say:":
            out += ["## " + line.rstrip(":"), ""]
    return "\n".join(out)


def without_network(output, uri):
    """A page that takes from the site what it would ask the network for."""
    return output.replace("https://unpkg.com/iframe-worker/shim", posixpath.relpath("iframe-worker.js", posixpath.dirname(uri) or "."))


def on_post_page(output, page, config):
    return without_network(output, page.file.dest_uri)


def on_post_template(output_content, template_name, config):
    return without_network(output_content, template_name)


def on_files(files, config):
    shim = pathlib.Path(sys.prefix) / "node_modules/iframe-worker/shim/index.js"
    files.append(File.generated(config, "iframe-worker.js", abs_src_path=str(shim)))
    pages = tracked("*.md")
    pictures = tracked("*.svg", "*.png")
    shown = set(pages) | set(pictures)
    for page in pages:
        files.append(File.generated(config, page, content=links(page, (ROOT / page).read_text(), shown)))
    for picture in pictures:
        files.append(File.generated(config, picture, abs_src_path=str(ROOT / picture)))
    files.append(File.generated(config, "functions.md", content=functions()))
    return files
