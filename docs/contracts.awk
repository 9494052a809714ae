# What Doxygen is given in the place of a header: what a contract speaks of ("Errors: ...") begins a line of its own,
# in bold.

{
  if (match($0, /^ *\/\/\/ [A-Z][a-z ]*(\([a-z, ]*\))?:( |$)/) && is_term(term = substr($0, index($0, "/// ") + 4))) {
    slashes = index($0, "/// ") + 3
    head = substr($0, slashes + 1, RLENGTH - slashes)
    rest = substr($0, RLENGTH + 1)
    sub(/ $/, "", head)
    # Where only the first sentence stands before it, that is the brief description, and this begins the rest. And
    # there is a class Cancellation.
    line_break = (paragraph == "" || sentences(paragraph) == 1) ? "" : "<br>"
    shown = substr($0, 1, slashes) line_break "<b>" (head ~ /^Can/ ? "%" : "") head "</b> " rest
  } else {
    shown = $0
  }
  if ($0 !~ /^ *\/\/\//) {
    paragraph = ""
    is_first = 1
  } else if ($0 ~ /^ *\/\/\/ *$/) {
    paragraph = ""
    is_first = 0
  } else if ($0 !~ /\\file|\\name|\\[{}]/) {
    paragraph = paragraph " " $0
  }
  print shown
}

function is_term(text) {
  return text ~ /^(Completes with|Cancellation|Errors|Executor|Threads|Lifetimes|Deadlines|Retries|When not to use it)/
}

# How many there are; only in the first paragraph does it matter.
function sentences(text) { return is_first ? gsub(/[.:;?]( |$)/, "", text) : 2 }
