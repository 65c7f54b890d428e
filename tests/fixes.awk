# The fixes of one program's diagnostics, those tried that are literal: awk -f fixes.awk -v out=PREFIX SOURCE DIAGNOSTICS.
# DIAGNOSTICS is what --error-format=json says. For each fix a line `number, code, line, literal or not, key, text` with tabs in
# between (`literal`, a target to compile for, or -); PREFIX.number is the program with a literal one applied. The key is the fix without what is quoted and numbers.

function field(name,   at, i, c, value) {
    at = index($0, "\"" name "\":\"")
    if (!at) return ""
    for (i = at + length(name) + 4; (c = substr($0, i, 1)) != "\""; i++) {
        if (c == "\\") c = substr($0, ++i, 1)
        value = value c
    }
    return value
}

function number(name) {
    match($0, "\"" name "\":[0-9]+")
    return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0
}

function key_of(fix) {
    gsub(/`[^`]*`/, "`..`", fix)
    gsub(/[0-9]+/, "0", fix)
    return fix
}

# What is quoted first; "" if nothing is, or if it is a pattern.
function quoted(fix) {
    if (!match(fix, /`[^`]*`/)) return ""
    fix = substr(fix, RSTART + 1, RLENGTH - 2)
    return fix ~ /\.\./ && fix !~ /[0-9a-z] \.\. [0-9a-z]/ ? "" : fix
}

# Where the statement of the place ends: its `;`, and where it starts: behind the `;` or brace before.
function statement_end(at) {
    while (at <= length(text) && substr(text, at, 1) != ";") at++
    return at
}

function statement_start(at,   c) {
    while (at > 1 && (c = substr(text, at - 1, 1)) != ";" && c != "{" && c != "}" && c != "\n") at--
    while (substr(text, at, 1) == " ") at++
    return at
}

function replaced(from, to, by) { return substr(text, 1, from - 1) by substr(text, to) }

# A clause with what belongs to it: `(..)`, or a word behind its own.
function without(x, from, to,   at, end, c) {
    at = index(substr(text, from, to - from), x == "grid" ? "grid (" : x)
    if (!at) return ""
    at += from - 1
    end = at + length(x)
    if (match(substr(text, end, to - end), /^ *\([^()]*\)/)) end += RLENGTH
    else if (x ~ /^(multicast|swizzle|stages|by|via|interleave|atom|stride)$/ && match(substr(text, end, to - end), /^ *[a-z0-9_]+/)) end += RLENGTH
    return replaced(at, end, "")
}

# The text with the fix applied, or "": from and to are the places of the diagnostic.
function applied(fix, from, to,   x, at) {
    x = quoted(fix)
    if (fix ~ /^compare it: /) return replaced(from, to, "(" substr(text, from, to - from) " != 0)")
    if (fix ~ /^(cta\.x|grid\.x|cluster\.size|min\(max\([^`]*\)|[a-z_]+|l2 [0-9]+)$/) {
        if (substr(text, from - 1, 1) == ".") sub(/.*\./, "", fix)
        return replaced(from, to, fix)
    }
    if (x == "") return ""
    if (fix ~ /^did you mean `[^`]*`\?$/ || fix ~ /^pick one: `[^`]*`$/) return replaced(from, to, x)
    if (fix ~ /write `overlap any`/) return replaced(statement_end(to), statement_end(to), " overlap any")
    if (fix ~ /^(add )?`(via|multicast) [^`]*`$/ || fix ~ /^add `[^`]*`$/) return replaced(statement_end(to), statement_end(to), " " x)
    if (fix ~ /^(write )?`[^`;]*`( here)?$/) return replaced(from, to, x)
    if (fix ~ /^`[^`]*` before this$/) return replaced(statement_start(from), statement_start(from), x " ")
    if (fix ~ /^leave `[^`]*` out($|,|:| here| if)/) return without(x, statement_start(from), statement_end(to))
    if (fix ~ /^`[^`]*;`$/) return replaced(statement_start(from), statement_end(to) + 1, x)
    return ""
}

FNR == 1 { file++ }
file == 1 { start[FNR] = length(text) + 1; text = text $0 "\n"; next }
/"fix":"/ {
    n++
    fix = field("fix")
    from = start[number("line")] + number("col") - 1
    to = start[number("end_line")] + number("end_col") - 1
    result = field("path") == path ? applied(fix, from, to) : ""
    target = ""
    if (match(fix, /(targets that (have it|have as many|take as many): |compile for (one of |a target that has them: )?)sm_[0-9]+[af]?/)) {
        target = substr(fix, RSTART, RLENGTH)
        sub(/.*sm_/, "sm_", target)
    }
    if (result != "") printf "%s", result >(out "." n)
    if (result != "") close(out "." n)
    printf "%d\t%s\t%d\t%s\t%s\t%s\n", n, field("code"), number("line"), target != "" ? target : result != "" ? "literal" : "-", key_of(fix), field("text")
}
