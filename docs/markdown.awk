# What Doxygen is given in the place of a page of Markdown: each heading with the anchor that GitHub gives it, links
# between pages, to headers and to examples as Doxygen knows them, and of links to other files the text alone. The
# pages are written for GitHub, so this has no counterpart there.
#
#   awk -v root=<the project's folder> -f markdown.awk <page>

BEGIN { root = root "/" }

FNR == 1 {
  file = substr(FILENAME, length(root) + 1)
  folder = file
  if (!sub(/\/[^\/]*$/, "", folder)) folder = ""
  page = id_of(file)
  # Pages below recipes.md are those in recipes/.
  below = file
  sub(/\.md$/, "/", below)
}

/^ *```/ {
  if (!in_code) flush()
  in_code = !in_code
  print
  next
}
in_code { print; next }
{ text = text $0 "\n" }
END { flush() }

function id_of(path) {
  if (path == "docs/README.md") return "index"
  path = tolower(path)
  sub(/\.md$/, "", path)
  gsub(/[^a-z0-9]/, "-", path)
  return path
}

# As GitHub makes an anchor of a heading; the second one of a name is -1.
function anchor_of(heading, count) {
  heading = tolower(heading)
  gsub(/[^a-z0-9 _-]/, "", heading)
  gsub(/ /, "-", heading)
  count = anchors[heading]++
  return count ? heading "-" count : heading
}

# A link's target as a path from the project's folder.
function from_root(target, path) {
  path = folder == "" ? target : folder "/" target
  while (sub(/(^|\/)[^\/.][^\/]*\/\.\.\//, "/", path)) continue
  gsub(/\/\.\//, "/", path)
  sub(/^\.?\//, "", path)
  return path
}

# What Doxygen has for it; empty if it has nothing.
function reference(target, anchor, path, line) {
  anchor = ""
  if (match(target, /#/)) {
    anchor = "--" substr(target, RSTART + 1)
    target = substr(target, 1, RSTART - 1)
  }
  if (target == "") return page anchor
  path = from_root(target)
  # A folder is shown by its README.
  if ((getline line < (root path "/README.md")) > 0) {
    close(root path "/README.md")
    path = path "/README.md"
  }
  if (path ~ /\.md$/) return id_of(path) anchor
  if (path ~ /^(recipes\/|testing\/)?include\/.*\.hpp$/) {
    sub(/^.*include\//, "", path)
    return path
  }
  if (path ~ /^examples\/[a-z_]*\.cpp$/) {
    sub(/^examples\//, "", path)
    return path
  }
  return ""
}

function link(shown, target, to) {
  if (target ~ /^[a-z]+:/) return "[" shown "](" target ")"
  to = reference(target)
  if (to == "") return shown
  # Doxygen shows the text of its own links as it is.
  gsub(/`/, "", shown)
  if (target ~ /\.md$/ && index(from_root(target), below) == 1 && !(to in subpages)) {
    subpages[to]
    return "\\subpage " to " \"" shown "\""
  }
  return "[" shown "](@ref " to ")"
}

function with_links(from, to, shown, target, image) {
  to = ""
  while (match(from, /!?\[[^][]*\]\([^()]*\)/)) {
    to = to substr(from, 1, RSTART - 1)
    shown = substr(from, RSTART, RLENGTH)
    from = substr(from, RSTART + RLENGTH)
    image = shown ~ /^!/
    match(shown, /\]\(/)
    target = substr(shown, RSTART + 2, length(shown) - RSTART - 2)
    shown = substr(shown, image ? 3 : 2, RSTART - (image ? 3 : 2))
    if (image) {
      # Its own way with a picture would not let it shrink. HTML_EXTRA_FILES has them.
      sub(/^.*\//, "", target)
      to = to "<img src=\"" target "\" alt=\"" shown "\">"
    } else {
      gsub(/\n/, " ", shown)
      to = to link(shown, target)
    }
  }
  return to from
}

function flush(lines, count, i, level, heading) {
  count = split(with_links(text), lines, "\n")
  text = ""
  for (i = 1; i < count; ++i) {
    if (match(lines[i], /^#+ /)) {
      level = RLENGTH - 1
      heading = substr(lines[i], RLENGTH + 1)
      if (level > 1) lines[i] = lines[i] " {#" page "--" anchor_of(heading) "}"
      else if (page != "index") lines[i] = lines[i] " {#" page "}"
    }
    print lines[i]
  }
}
