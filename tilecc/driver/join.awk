# awk -v root=. -f join.awk file.c ..: the files as one, for one C file that holds libtile (--emit=c-driver). Headers come in where they are first
# included; functions that headers declare become static; a static function whose name another file has, too, gets its file's name. No macro is
# left at the end: what follows may use its name.
function own_name(line) { # of the function that a line at column 0 begins to declare or define; "" for none
    if (line !~ /^(REPORT_PRINTF\([0-9, ]*\) )?[A-Za-z_][A-Za-z_0-9 *]*[ *][a-z_0-9]+\(/ || line ~ /^(typedef|return|extern|else)/) return ""
    sub(/^REPORT_PRINTF\([0-9, ]*\) /, "", line)
    sub(/\(.*/, "", line)
    sub(/.*[ *]/, "", line)
    return line
}
function find(path) {
    return path == "tile.h" ? root "/runtime/include/tile.h" : root "/" path
}
function defined(line) { # guards of headers stay
    if (!match(line, /^[ \t]*#[ \t]*define [A-Za-z_0-9]+/)) return
    sub(/^[^e]*efine /, "", line)
    sub(/[^A-Za-z_0-9].*/, "", line)
    if (line !~ /_H$|^TILE_STATUS$/ && !seen["macro " line]++) macros[++nmacros] = line
}
function put(path,   file, line, name) {
    file = find(path)
    while ((getline line < file) > 0) {
        if (path !~ /head\.c$/) defined(line)
        if (path ~ /errors\.def$/) { # codes without their texts
            if (match(line, /^ERROR\(E[0-9]+, /)) print substr(line, 1, RLENGTH) "ERROR, \"\", \"\", \"\")"
        } else if (line ~ /^[ \t]*#[ \t]*include "/) {
            name = line
            sub(/^[^"]*"/, "", name)
            sub(/".*/, "", name)
            if (name ~ /\.h$/ && seen[name]++) continue
            put(name)
        } else if (line ~ /include <xxhash\.h>/) {
            if (!seen["xxhash"]++) put("tilecc/driver/hash.c")
        } else if (line ~ /^#define TILE_API/) {
            if (!seen["api"]++) print "#define TILE_API static"
        } else if (path ~ /\.h$/ && path != "tile.h" && own_name(line) != "" && line !~ /^static/) print "static " line
        else print line
    }
    close(file)
}
BEGIN {
    for (i = 1; i < ARGC; i++) {
        file = find(ARGV[i])
        while ((getline line < file) > 0) {
            name = own_name(line)
            if (name == "" || seen[ARGV[i], name]++) continue
            count[name]++
            if (line ~ /^static/) of[ARGV[i]] = of[ARGV[i]] " " name
        }
        close(file)
    }
    put("tilecc/driver/head.c")
    for (i = 1; i < ARGC; i++) {
        n = split(of[ARGV[i]], names, " ")
        prefix = ARGV[i]
        gsub(/[^a-z0-9_]/, "_", prefix)
        sub(/_c$/, "", prefix)
        for (k = 1; k <= n; k++)
            if (count[names[k]] > 1) print "#define " names[k] "(...) " prefix "_" names[k] "(__VA_ARGS__)"
        put(ARGV[i])
        for (k = 1; k <= n; k++)
            if (count[names[k]] > 1) print "#undef " names[k]
    }
    put("tilecc/driver/tail.c")
    for (i = 1; i <= nmacros; i++) print "#undef " macros[i]
}
