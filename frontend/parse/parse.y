/* The grammar of .tile. Its actions build the tree (build.h) and nothing else; tokens come from lex.re through
 * parse.c, which also keeps the brackets; what a syntax error says is worked out in syntax.c.
 */
%require "3.8"
%define api.pure full
%define api.prefix {tile_}
%define api.token.prefix {TK_}
%define api.token.raw
%define api.location.type {Span}
%define api.header.include {"frontend/parse.tab.h"}
%define parse.error custom
%define parse.lac full
%expect 0
%parse-param {Parse *ps}
%lex-param {Parse *ps}

%code requires {
#include "frontend/parse/build.h"

typedef struct Parse Parse;
}

%code {
#include "frontend/parse/parse.h"

static void yyerror(Span *at, Parse *ps, const char *msg);

#define TREE (&ps->tree)

#define YYLLOC_DEFAULT(cur, rhs, n)                                                                                    \
    ((cur) = (n) ? (Span){YYRHSLOC(rhs, 1).lo, YYRHSLOC(rhs, n).hi}                                                    \
                 : (Span){YYRHSLOC(rhs, 0).hi, YYRHSLOC(rhs, 0).hi})

/* The stacks grow in the arena, so that nothing is lost when memory runs out. */
#define YYMAXDEPTH 10000
#define yyoverflow(msg, ss, ssn, vs, vsn, ls, lsn, size)                                                               \
    do {                                                                                                               \
        if (*(size) >= YYMAXDEPTH) {                                                                                   \
            parse_stack_full(ps);                                                                                      \
            break;                                                                                                     \
        }                                                                                                              \
        *(size) = *(size) > YYMAXDEPTH / 2 ? YYMAXDEPTH : *(size) * 2;                                                 \
        *(ss) = parse_regrow(ps, *(ss), (size_t)(ssn), (size_t)*(size) * sizeof **(ss));                               \
        *(vs) = parse_regrow(ps, *(vs), (size_t)(vsn), (size_t)*(size) * sizeof **(vs));                               \
        *(ls) = parse_regrow(ps, *(ls), (size_t)(lsn), (size_t)*(size) * sizeof **(ls));                               \
    } while (0)
}

%union {
    Name name;
    uint64_t integer;
    double real;
    String string;
    Ident ident;
    Expr *expr;
    ExprList exprs;
    Sub *sub;
    SubList subs;
    IdentList idents;
    DimsChain dims;
    TypeExpr *type;
    Swizzle swizzle;
    Space space;
    Stmt *stmt;
    Block block;
    Clause *clause;
    ClauseList clauses;
    MapOpt *mapopt;
    MapOptList mapopts;
    PolicyOptList policyopts;
    Span span;
    WaitGroup waitgroup;
    RangeItem *range;
    RangeList ranges;
    Role *role;
    RoleList roles;
    TParamList tparams;
    Param *param;
    ParamList params;
    AttrList attrs;
    Item *item;
}

%token END 0 "end of file"
%token <name> IDENT "name"
%token <integer> INT "number"
%token <real> FLOAT "fraction"
%token <string> STRING "string"

/* Reserved words. */
%token TARGET "target" IMPORT "import" CONST "const" FN "fn" KERNEL "kernel"
%token GLOBAL "global" SHARED "shared" TMEM "tmem" BARRIER "barrier" MAP "map" POLICY "policy"
%token GRID "grid" CLUSTER "cluster" THREADS "threads" WHERE "where"
%token LET "let" VAR "var" VIEW "view"
%token MOVE "move" PREFETCH "prefetch" FILL "fill" SHIFT "shift" WAIT "wait" GROUP "group" ARRIVE "arrive"
%token EXPECT "expect" VIA "via" COMMIT "commit" READ "read" PEER "peer"
%token FOR "for" PIPELINE "pipeline" IF "if" ELSE "else" ROLES "roles" ROLE "role"

/* Words that may also name things: the list stands once more under `name`. */
%token IN "in" BY "by" BOX "box" SWIZZLE "swizzle" STRIDE "stride" OFFSET "offset" HALO "halo" AHEAD "ahead"
%token TRANSPOSE "transpose" REVERSE "reverse" SUM "sum" CONVERT "convert" OVERLAP "overlap" REDUCE "reduce" CACHE "cache" BYTES "bytes"
%token MULTICAST "multicast" ACROSS "across" STAGES "stages" LOWER "lower" UPPER "upper" CHANNELS "channels"
%token PIXELS "pixels" L2 "l2" INTERLEAVE "interleave" ATOM "atom" FLIP "flip" PAIR "pair" FREE "free" TRUST "trust"

%token LPAREN "(" RPAREN ")" LBRACKET "[" RBRACKET "]" LBRACE "{" RBRACE "}"
%token SEMI ";" COMMA "," COLON ":" DOT "." DOTDOT ".." ARROW "->" SPAN "+:" ASSIGN "="

%token OROR "||" ANDAND "&&" EQ "==" NE "!=" LT "<" GT ">" LE "<=" GE ">="
%token AND "&" OR "|" XOR "^" SHL "<<" SHR ">>" PLUS "+" MINUS "-" STAR "*" SLASH "/" PERCENT "%" NOT "!" INV "~"

/* Precedence instead of a rule per level: a level costs a reduction for every operand. */
%left "||"
%left "&&"
%nonassoc "==" "!=" "<" ">" "<=" ">="
%left "|"
%left "^"
%left "&"
%left "<<" ">>"
%left "+" "-"
%left "*" "/" "%"
%precedence UNARY

%type <ident> name opt_by opt_word
%type <idents> names path index
%type <expr> expr sum prim bdim
%type <exprs> exprs args sums targs tuple alternatives
%type <sub> sub
%type <subs> subs
%type <dims> dims
%type <type> type layout
%type <swizzle> swz
%type <space> space
%type <stmt> stmt decl act ctl if popt
%type <block> block stmts
%type <span> bopts
%type <clause> clause
%type <clauses> clauses
%type <mapopt> mopt
%type <mapopts> mopts
%type <policyopts> popts
%type <waitgroup> gopt
%type <range> ritem
%type <ranges> range ritems
%type <role> role
%type <roles> roles
%type <tparams> tparams tplist
%type <param> param
%type <params> params plist
%type <attrs> attrs
%type <item> item fn kernel

%%

unit: %empty
    | unit item                         { unit_add(ps->unit, $2); }
    ;

item: "target" names ";"                { $$ = item_path(TREE, IT_TARGET, @$, $2); }
    | "import" path ";"                 { $$ = item_path(TREE, IT_IMPORT, @$, $2); }
    | "const" name "=" expr ";"         { $$ = item_const(TREE, @$, $2, $4); }
    | fn
    | kernel
    | error ";"                         { $$ = NULL; yyerrok; parse_resumed(ps); }
    | lost_head stmts "}"               { $$ = NULL; }
    ;

fn: "fn" name tparams "(" params ")" block
                                        { $$ = item_fn(TREE, span_join(@1, @6), $2, $3, $5, &$7, NULL); }
  | "fn" name tparams "(" params ")" "=" expr ";"
                                        { $$ = item_fn(TREE, span_join(@1, @6), $2, $3, $5, NULL, $8); }
  ;

kernel: "kernel" name tparams "(" params ")" attrs block
                                        { $$ = item_kernel(TREE, span_join(@1, @7), $2, $3, $5, $7, $8); }
  ;

tparams: %empty                         { $$ = (TParamList){0}; }
       | "<" tplist ">"                 { $$ = $2; }
       ;
/* A default is a sum, so that `>` closes the list. */
tplist: name                            { $$ = tparam_list(TREE, (TParamList){0}, $1, NULL); }
      | name "=" alternatives           { $$ = tparam_list(TREE, (TParamList){0}, $1, $3.first); }
      | tplist "," name                 { $$ = tparam_list(TREE, $1, $3, NULL); }
      | tplist "," name "=" alternatives { $$ = tparam_list(TREE, $1, $3, $5.first); }
      ;
alternatives: sum                       { $$ = expr_list((ExprList){0}, $1); }
            | alternatives "|" sum      { $$ = expr_list($1, $3); }
            ;

params: %empty                          { $$ = (ParamList){0}; }
      | plist
      ;
plist: param                            { $$ = param_list((ParamList){0}, $1); }
     | plist "," param                  { $$ = param_list($1, $3); }
     ;
param: name                             { $$ = param_new(TREE, PK_BARE, @$, $1); }
     | name ":" IDENT                   { $$ = param_scalar(TREE, @$, $1, (Ident){$3, @3}); }
     | name ":" space type              { $$ = param_tensor(TREE, @$, $1, $3, $4); }
     | name ":" "barrier" bdim          { $$ = param_barrier(TREE, @$, $1, $4); }
     | name ":" "map"                   { $$ = param_new(TREE, PK_MAP, @$, $1); }
     | name ":" "policy"                { $$ = param_new(TREE, PK_POLICY, @$, $1); }
     ;
space: "global"                         { $$ = SPACE_GLOBAL; }
     | "shared"                         { $$ = SPACE_SHARED; }
     | "tmem"                           { $$ = SPACE_TMEM; }
     ;

type: IDENT dims layout                 { $$ = type_close($3, @$, (Ident){$1, @1}, $2); }
    ;
dims: "[" exprs "]"                     { $$ = dims_list(TREE, (DimsChain){0}, @$, $2); }
    | dims "[" exprs "]"                { $$ = dims_list(TREE, $1, span_join(@2, @4), $3); }
    ;
layout: %empty                          { $$ = type_open(TREE); }
      | layout "stride" "[" exprs "]"   { $$ = type_stride(TREE, $1, span_join(@2, @5), $4); }
      | layout swz                      { $$ = type_swizzle(TREE, $1, @2, $2); }
      | layout "interleave" prim        { $$ = type_interleave(TREE, $1, span_join(@2, @3), $3); }
      ;
swz: "swizzle" prim                     { $$ = (Swizzle){.span = $2}; }
   | "swizzle" prim "atom" prim         { $$ = (Swizzle){.span = $2, .atom = $4}; }
   | "swizzle" prim "atom" prim "flip"  { $$ = (Swizzle){.span = $2, .atom = $4, .flip = true}; }
   ;

attrs: %empty                           { $$ = (AttrList){0}; }
     | attrs "grid" tuple               { $$ = attr_list(TREE, $1, AT_GRID, span_join(@2, @3), $3); }
     | attrs "cluster" tuple            { $$ = attr_list(TREE, $1, AT_CLUSTER, span_join(@2, @3), $3); }
     | attrs "threads" prim             { $$ = attr_list(TREE, $1, AT_THREADS, span_join(@2, @3), expr_list((ExprList){0}, $3)); }
     | attrs "where" exprs              { $$ = attr_list(TREE, $1, AT_WHERE, span_join(@2, @3), $3); }
     | attrs "trust" exprs              { $$ = attr_list(TREE, $1, AT_TRUST, span_join(@2, @3), $3); }
     | attrs "pair"                     { $$ = attr_list(TREE, $1, AT_PAIR, @2, (ExprList){0}); }
     ;
tuple: "(" exprs ")"                    { $$ = $2; }
     ;

/* ---- statements ---- */

/* After an error reading goes on behind the next `;`, behind the next block, or at the end of this one. */
block: "{" stmts "}"                    { $$ = block_close($2, @$); }
     | "{" stmts error "}"              { $$ = block_close($2, @$); yyerrok; parse_resumed(ps); }
     ;
stmts: %empty                           { $$ = (Block){0}; }
     | stmts stmt                       { $$ = block_add($1, $2); }
     ;
stmt: decl ";"                          { $$ = $1; }
    | act ";"                           { $$ = $1; }
    | ctl
    | error ";"                         { $$ = stmt_error(TREE, @$); yyerrok; parse_resumed(ps); }
    | lost_head stmts "}"               { $$ = stmt_error(TREE, @$); }
    ;
lost_head: error "{"                    { yyerrok; parse_resumed(ps); }
    ;

decl: "let" name "=" expr               { $$ = stmt_scalar(TREE, ST_LET, @$, $2, $4); }
    | "var" name "=" expr               { $$ = stmt_scalar(TREE, ST_VAR, @$, $2, $4); }
    | name "=" expr                     { $$ = stmt_scalar(TREE, ST_ASSIGN, @$, $1, $3); }
    | "shared" name ":" type            { $$ = stmt_tile(TREE, ST_SHARED, @$, $2, $4); }
    | "tmem" name ":" type              { $$ = stmt_tile(TREE, ST_TMEM, @$, $2, $4); }
    | "barrier" name bdim bopts         { $$ = stmt_barrier(TREE, @$, $2, $3, $4); }
    | "view" name "=" prim              { $$ = stmt_view(TREE, @$, $2, $4, NULL); }
    | "view" name "=" prim ":" type     { $$ = stmt_view(TREE, @$, $2, $4, $6); }
    | "map" name "=" prim mopts         { $$ = stmt_map(TREE, @$, $2, $4, $5); }
    | "policy" name "=" IDENT popts     { $$ = stmt_policy(TREE, @$, $2, (Ident){$4, @4}, $5); }
    ;
bdim: %empty                            { $$ = NULL; }
    | "[" expr "]"                      { $$ = $2; }
    ;
bopts: %empty                           { $$ = (Span){0}; }
     | bopts "free"                     { $$ = @2; }
     ;
mopts: %empty                           { $$ = (MapOptList){0}; }
     | mopts mopt                       { $$ = mapopt_list($1, $2); }
     ;
mopt: IDENT                             { $$ = mapopt_id(TREE, MO_WORD, @$, (Ident){$1, @1}); }
    | "box" "[" exprs "]"               { $$ = mapopt_exprs(TREE, MO_BOX, @$, $3); }
    | "stride" "[" exprs "]"            { $$ = mapopt_exprs(TREE, MO_STRIDE, @$, $3); }
    | swz                               { $$ = mapopt_swizzle(TREE, @$, $1); }
    | "fill" IDENT                      { $$ = mapopt_id(TREE, MO_FILL, @$, (Ident){$2, @2}); }
    | "l2" prim                         { $$ = mapopt_expr(TREE, MO_L2, @$, $2); }
    | "interleave" prim                 { $$ = mapopt_expr(TREE, MO_INTERLEAVE, @$, $2); }
    | "lower" tuple                     { $$ = mapopt_exprs(TREE, MO_LOWER, @$, $2); }
    | "upper" tuple                     { $$ = mapopt_exprs(TREE, MO_UPPER, @$, $2); }
    | "channels" prim                   { $$ = mapopt_expr(TREE, MO_CHANNELS, @$, $2); }
    | "pixels" prim                     { $$ = mapopt_expr(TREE, MO_PIXELS, @$, $2); }
    ;
popts: %empty                           { $$ = (PolicyOptList){0}; }
     | popts IDENT prim                 { $$ = policyopt_list(TREE, $1, span_join(@2, @3), false, (Ident){$2, @2}, $3); }
     | popts "else" IDENT               { $$ = policyopt_list(TREE, $1, span_join(@2, @3), true, (Ident){$3, @3}, NULL); }
     ;

act: "move" prim "->" prim clauses      { $$ = stmt_move(TREE, ST_MOVE, @$, $2, $4, $5); }
   | "prefetch" prim clauses            { $$ = stmt_move(TREE, ST_PREFETCH, @$, $2, NULL, $3); }
   | "shift" prim clauses               { $$ = stmt_move(TREE, ST_SHIFT, @$, $2, NULL, $3); }
   | "fill" prim "=" expr clauses       { $$ = stmt_fill(TREE, @$, $2, $4, $5); }
   | "wait" prim                        { $$ = stmt_operand(TREE, ST_WAIT, @$, $2); }
   | "wait" "group" gopt                { $$ = stmt_wait_group(TREE, @$, $3); }
   | "arrive" prim                      { $$ = stmt_operand(TREE, ST_ARRIVE, @$, $2); }
   | "expect" prim "," expr             { $$ = stmt_expect(TREE, @$, $2, $4); }
   | path targs "(" args ")"            { $$ = stmt_call(TREE, @$, @1, $1, $2, $4); }
   ;
gopt: %empty                            { $$ = (WaitGroup){0}; }
    | prim                              { $$ = (WaitGroup){.count = $1}; }
    | "read"                            { $$ = (WaitGroup){.read = true}; }
    | prim "read"                       { $$ = (WaitGroup){.count = $1, .read = true}; }
    ;
targs: %empty                           { $$ = (ExprList){0}; }
     | "<" sums ">"                     { $$ = $2; }
     ;
clauses: %empty                         { $$ = (ClauseList){0}; }
       | clauses clause                 { $$ = clause_list($1, $2); }
       ;
clause: "via" name                      { $$ = clause_id(TREE, CL_VIA, @$, $2); }
      | "via" "threads"                 { $$ = clause_new(TREE, CL_VIA_THREADS, @$); }
      | "multicast" IDENT               { $$ = clause_id(TREE, CL_MULTICAST, @$, (Ident){$2, @2}); }
      | "multicast" "(" expr ")"        { $$ = clause_expr(TREE, CL_MULTICAST, @$, $3); }
      | "reduce" IDENT                  { $$ = clause_id(TREE, CL_REDUCE, @$, (Ident){$2, @2}); }
      | "cache" name                    { $$ = clause_id(TREE, CL_CACHE, @$, $2); }
      | "bytes" tuple                   { $$ = clause_exprs(TREE, CL_BYTES, @$, $2); }
      | "offset" tuple                  { $$ = clause_exprs(TREE, CL_OFFSET, @$, $2); }
      | "halo" tuple                    { $$ = clause_exprs(TREE, CL_HALO, @$, $2); }
      | "ahead" prim                    { $$ = clause_expr(TREE, CL_AHEAD, @$, $2); }
      | "overlap" IDENT                 { $$ = clause_id(TREE, CL_OVERLAP, @$, (Ident){$2, @2}); }
      | "convert" opt_word              { $$ = clause_id(TREE, CL_CONVERT, @$, $2); }
      | "transpose"                     { $$ = clause_new(TREE, CL_TRANSPOSE, @$); }
      | "reverse"                       { $$ = clause_new(TREE, CL_REVERSE, @$); }
      | "sum"                           { $$ = clause_new(TREE, CL_SUM, @$); }
      | "commit" prim                   { $$ = clause_expr(TREE, CL_COMMIT, @$, $2); }
      | "commit" "group"                { $$ = clause_new(TREE, CL_COMMIT_GROUP, @$); }
      ;
opt_word: %empty                        { $$ = (Ident){0}; }
        | IDENT                         { $$ = (Ident){$1, @1}; }
        ;

ctl: "for" index "in" range block       { $$ = stmt_for(TREE, span_join(@1, @4), $2, @2, $4, @4, $5); }
   | "pipeline" index "in" range popt block
                                        { $$ = stmt_pipeline($5, span_join(@1, @5), $2, @2, $4, @4, $6); }
   | if
   | "group" block                      { $$ = stmt_group(TREE, @1, $2); }
   | "roles" "{" roles "}"              { $$ = stmt_roles(TREE, @1, $3); }
   | "roles" "{" roles error "}"        { $$ = stmt_roles(TREE, @1, $3); yyerrok; parse_resumed(ps); }
   | "roles" "{" error "}"              { $$ = stmt_error(TREE, @1); yyerrok; parse_resumed(ps); }
   ;
popt: %empty                            { $$ = pipeline_open(TREE); }
    | popt "stages" prim                { $$ = pipeline_stages(TREE, $1, span_join(@2, @3), $3); }
    | popt "threads" prim               { $$ = pipeline_threads(TREE, $1, span_join(@2, @3), $3); }
    | popt "across" "grid" opt_by       { $$ = pipeline_across(TREE, $1, span_join(@2, @4), $4); }
    ;
opt_by: %empty                          { $$ = (Ident){0}; }
      | "by" IDENT                      { $$ = (Ident){$2, @2}; }
      ;
if: "if" expr block                     { $$ = stmt_if(TREE, span_join(@1, @2), $2, $3, NULL); }
  | "if" expr block "else" block        { $$ = stmt_if(TREE, span_join(@1, @2), $2, $3, &$5); }
  | "if" expr block "else" if           { $$ = stmt_if(TREE, span_join(@1, @2), $2, $3, &(Block){@5, $5, $5}); }
  ;
roles: role                             { $$ = role_list((RoleList){0}, $1); }
     | roles role                       { $$ = role_list($1, $2); }
     ;
role: "role" name block                 { $$ = role_new(TREE, span_join(@1, @2), $2, NULL, $3); }
    | "role" name "threads" prim block  { $$ = role_new(TREE, span_join(@1, @4), $2, $4, $5); }
    ;
index: name                             { $$ = ident_list(TREE, (IdentList){0}, $1); }
     | "(" names ")"                    { $$ = $2; }
     ;
names: name                             { $$ = ident_list(TREE, (IdentList){0}, $1); }
     | names "," name                   { $$ = ident_list(TREE, $1, $3); }
     ;
range: ritem                            { $$ = range_list((RangeList){0}, $1); }
     | "(" ritem "," ritems ")"         { $$ = range_join($2, $4); }
     ;
ritems: ritem                           { $$ = range_list((RangeList){0}, $1); }
      | ritems "," ritem                { $$ = range_list($1, $3); }
      ;
ritem: expr                             { $$ = range_item(TREE, @$, NULL, $1); }
     | expr ".." expr                   { $$ = range_item(TREE, @$, $1, $3); }
     ;

/* ---- expressions ---- */

exprs: expr                             { $$ = expr_list((ExprList){0}, $1); }
     | exprs "," expr                   { $$ = expr_list($1, $3); }
     ;
args: %empty                            { $$ = (ExprList){0}; }
    | exprs
    ;
expr: prim
    | expr "||" expr                    { $$ = expr_binary(TREE, @$, OP_LOR, @2, $1, $3); }
    | expr "&&" expr                    { $$ = expr_binary(TREE, @$, OP_LAND, @2, $1, $3); }
    | expr "==" expr                    { $$ = expr_binary(TREE, @$, OP_EQ, @2, $1, $3); }
    | expr "!=" expr                    { $$ = expr_binary(TREE, @$, OP_NE, @2, $1, $3); }
    | expr "<" expr                     { $$ = expr_binary(TREE, @$, OP_LT, @2, $1, $3); }
    | expr ">" expr                     { $$ = expr_binary(TREE, @$, OP_GT, @2, $1, $3); }
    | expr "<=" expr                    { $$ = expr_binary(TREE, @$, OP_LE, @2, $1, $3); }
    | expr ">=" expr                    { $$ = expr_binary(TREE, @$, OP_GE, @2, $1, $3); }
    | expr "&" expr                     { $$ = expr_binary(TREE, @$, OP_AND, @2, $1, $3); }
    | expr "|" expr                     { $$ = expr_binary(TREE, @$, OP_OR, @2, $1, $3); }
    | expr "^" expr                     { $$ = expr_binary(TREE, @$, OP_XOR, @2, $1, $3); }
    | expr "<<" expr                    { $$ = expr_binary(TREE, @$, OP_SHL, @2, $1, $3); }
    | expr ">>" expr                    { $$ = expr_binary(TREE, @$, OP_SHR, @2, $1, $3); }
    | expr "+" expr                     { $$ = expr_binary(TREE, @$, OP_ADD, @2, $1, $3); }
    | expr "-" expr                     { $$ = expr_binary(TREE, @$, OP_SUB, @2, $1, $3); }
    | expr "*" expr                     { $$ = expr_binary(TREE, @$, OP_MUL, @2, $1, $3); }
    | expr "/" expr                     { $$ = expr_binary(TREE, @$, OP_DIV, @2, $1, $3); }
    | expr "%" expr                     { $$ = expr_binary(TREE, @$, OP_MOD, @2, $1, $3); }
    | "-" expr %prec UNARY              { $$ = expr_unary(TREE, @$, OP_NEG, @1, $2); }
    | "!" expr %prec UNARY              { $$ = expr_unary(TREE, @$, OP_NOT, @1, $2); }
    | "~" expr %prec UNARY              { $$ = expr_unary(TREE, @$, OP_INV, @1, $2); }
    ;

/* An expression without comparison or bit operators outside parentheses, for lists that `>` closes. */
sums: sum                               { $$ = expr_list((ExprList){0}, $1); }
    | sums "," sum                      { $$ = expr_list($1, $3); }
    ;
sum: prim
   | sum "+" sum                        { $$ = expr_binary(TREE, @$, OP_ADD, @2, $1, $3); }
   | sum "-" sum                        { $$ = expr_binary(TREE, @$, OP_SUB, @2, $1, $3); }
   | sum "*" sum                        { $$ = expr_binary(TREE, @$, OP_MUL, @2, $1, $3); }
   | sum "/" sum                        { $$ = expr_binary(TREE, @$, OP_DIV, @2, $1, $3); }
   | sum "%" sum                        { $$ = expr_binary(TREE, @$, OP_MOD, @2, $1, $3); }
   | "-" sum %prec UNARY                { $$ = expr_unary(TREE, @$, OP_NEG, @1, $2); }
   | "!" sum %prec UNARY                { $$ = expr_unary(TREE, @$, OP_NOT, @1, $2); }
   | "~" sum %prec UNARY                { $$ = expr_unary(TREE, @$, OP_INV, @1, $2); }
   ;

prim: name                              { $$ = expr_name(TREE, $1); }
    | INT                               { $$ = expr_int(TREE, @$, $1); }
    | FLOAT                             { $$ = expr_float(TREE, @$, $1); }
    | STRING                            { $$ = expr_string(TREE, @$, $1); }
    | "(" expr ")"                      { $$ = expr_paren($2, @$); }
    | name "(" args ")"                 { $$ = expr_call(TREE, @$, $1, $3); }
    | "peer" "(" expr "," expr ")"      { $$ = expr_peer(TREE, @$, @1, $3, $5); }
    | prim "[" subs "]"                 { $$ = expr_index(TREE, @$, $1, $3); }
    | prim "." name                     { $$ = expr_member(TREE, @$, $1, $3); }
    | prim "." name "(" args ")"        { $$ = expr_method(TREE, @$, $1, $3, $5); }
    | "cluster" "." name                { $$ = expr_member(TREE, @$, expr_word(TREE, @1, "cluster"), $3); }
    | "grid" "." name                   { $$ = expr_member(TREE, @$, expr_word(TREE, @1, "grid"), $3); }
    ;
subs: sub                               { $$ = sub_list((SubList){0}, $1); }
    | subs "," sub                      { $$ = sub_list($1, $3); }
    ;
sub: expr                               { $$ = sub_new(TREE, SUB_AT, @$, $1, NULL, NULL); }
   | ":"                                { $$ = sub_new(TREE, SUB_ALL, @$, NULL, NULL, NULL); }
   | expr "+:" expr                     { $$ = sub_new(TREE, SUB_SPAN, @$, $1, $3, NULL); }
   | expr "+:" expr "by" expr           { $$ = sub_new(TREE, SUB_SPAN, @$, $1, $3, $5); }
   | "{" exprs "}"                      { $$ = sub_rows(TREE, @$, $2); }
   ;

path: name                              { $$ = ident_list(TREE, (IdentList){0}, $1); }
    | path "." name                     { $$ = ident_list(TREE, $1, $3); }
    ;
name: IDENT                             { $$ = (Ident){$1, @1}; }
    | soft                              { $$ = parse_soft_name(ps, @1); }
    ;
soft: "in" | "by" | "box" | "swizzle" | "stride" | "offset" | "halo" | "ahead" | "transpose" | "convert" | "overlap"
    | "reduce" | "cache" | "bytes" | "multicast" | "across" | "stages" | "lower" | "upper" | "channels" | "pixels"
    | "l2" | "interleave" | "atom" | "flip" | "pair" | "free" | "trust" | "reverse" | "sum"
    ;

%%

const char *token_text(int kind)
{
    return yysymbol_name((yysymbol_kind_t)kind);
}

static int yyreport_syntax_error(const yypcontext_t *ctx, Parse *ps)
{
    _Static_assert(YYNTOKENS == TOKEN_KINDS, "UNARY is declared last");
    yysymbol_kind_t found[TOKEN_KINDS];
    bool expected[TOKEN_KINDS] = {false};
    int n = yypcontext_expected_tokens(ctx, found, TOKEN_KINDS);
    for (int i = 0; i < n; i++) expected[found[i]] = true;
    syntax_error(ps, expected);
    return 0;
}

/* Syntax errors are reported above: what remains is the want of memory for LAC's exploration. */
static void yyerror(Span *at, Parse *ps, const char *msg)
{
    (void)at;
    (void)msg;
    parse_stack_full(ps);
}
