/* The grammar of one PTX statement (PTX ISA, "Syntax", "Directives"). Its actions call the builder and nothing else;
 * what the feed does to the tokens is said in parse.h. Looser than PTX where that costs nothing: what a word means
 * is the business of those who know the instructions.
 */
%require "3.8"
%define api.pure full
%define api.prefix {ptx_}
%define api.token.prefix {PT_}
%define api.token.raw
%define api.header.include {"runtime/ptx/parse.tab.h"}
%define parse.error custom
%define parse.lac full
%expect 0
%parse-param {PtxReader *r}
%lex-param {PtxReader *r}

%code requires {
#include "lang/names.h"
#include "runtime/ptx/ptx.h"

typedef struct PtxReader PtxReader;
typedef struct PtxWord { /* an identifier; "%tid.x" and "v.y" are one */
    Name name, base;     /* base: without the part behind the dot, 0: there is none */
    uint32_t line, column;
} PtxWord;
typedef struct PtxConst {
    PtxOperandKind kind; /* PTX_INT, PTX_F32_BITS or PTX_F64_BITS */
    bool is_unsigned;
    int64_t value;
} PtxConst;
typedef enum PtxLimit { LIMIT_OTHER, LIMIT_REQNTID, LIMIT_MAXNTID, LIMIT_CLUSTER } PtxLimit;
}

%code {
#include "runtime/ptx/parse.h"

static void yyerror(PtxReader *r, const char *msg);

/* The feed allows 100 brackets inside each other; they fit, each with operators before it. What does not fit
 * (long chains of prefix operators) is an error: nothing grows. */
#define YYINITDEPTH 500
#define YYMAXDEPTH YYINITDEPTH
#define YYSTACK_ALLOC(n) (NULL)
}

%union {
    PtxWord word;
    PtxConst number;
    const char *text;
    PtxType type;
    PtxSpace space;
    PtxLimit limit;
    uint32_t n;
    PtxOperand operand;
    PtxReloc reloc;
}

%token END 0 "the end of the text"
%token BAD "what is no token"
%token END_OF_LINE "the end of the line"
%token <word> WORD "name"
%token <number> INT "number" FLOAT "fraction"
%token <text> STRING "string"
%token <text> DOT "modifier"
%token SINK "_"

%token <type> TYPE "type"
%token <space> SPACE "state space"
%token <n> VEC "vector size"
%token <limit> LIMIT "limit"
%token VERSION ".version" TARGET ".target" ADDRESS_SIZE ".address_size" FILE_ ".file" LOC ".loc" PRAGMA ".pragma"
%token SECTION ".section" ALIAS ".alias" ENTRY ".entry" FUNC ".func" EXTERN ".extern" VISIBLE ".visible" WEAK ".weak"
%token COMMON ".common" ALIGN ".align" ATTRIBUTE ".attribute" PTR ".ptr"
%token TARGETS ".branchtargets" PROTOTYPE ".callprototype"

%token LPAREN "(" RPAREN ")" LBRACKET "[" RBRACKET "]" LBRACE "{" RBRACE "}" ARGS "( of a call"
%token SEMI ";" COMMA "," COLON ":" AT "@" ASSIGN "=" QUESTION "?"
%token OROR "||" ANDAND "&&" EQ "==" NE "!=" LT "<" GT ">" LE "<=" GE ">="
%token AND "&" OR "|" XOR "^" SHL "<<" SHR ">>" PLUS "+" MINUS "-" STAR "*" SLASH "/" PERCENT "%" NOT "!" INV "~"

%right "?" ":"
%left "||"
%left "&&"
%left "|"
%left "^"
%left "&"
%left "==" "!="
%left "<" ">" "<=" ">="
%left "<<" ">>"
%left "+" "-"
%left "*" "/" "%"
%precedence UNARY

%type <number> expr
%type <operand> ref base moved operand item vector address args half first
%type <n> operands list addresses names
%type <reloc> symbol name sum

%start statement

%%

/* Accepted without a look at what follows. */
statement: single                       { YYACCEPT; }
         ;
single: ";"                             { ptx_nothing(r); }
      | WORD ":"                        { ptx_new_label(r, $1); }
      | "{"                             { ptx_brace_open(r); }
      | "}"                             { ptx_brace_close(r); }
      | instruction ";"
      | "@" WORD                        { r->guard = $2; }
        instruction ";"
      | "@" "!" WORD                    { r->guard = $3; r->guard_not = true; }
        instruction ";"
      | ".version" FLOAT END_OF_LINE    { ptx_version(r, $2); }
      | ".target" targets END_OF_LINE
      | ".address_size" INT END_OF_LINE { ptx_address_size(r, $2); }
      | ".file" INT STRING file END_OF_LINE
                                        { ptx_file(r, $2, $3); }
      | ".loc" INT INT INT inlined END_OF_LINE
                                        { ptx_loc(r, $2, $3, $4); }
      | ".pragma" strings ";"
      | ".alias" WORD "," WORD ";"      { ptx_alias(r, $2, $4); }
      | ".branchtargets" names ";"      { ptx_targets(r, $2); }
      | ".callprototype"                { r->prototype = true; }
        prototype ";"                   { r->prototype = false; }
      | ".section" section "{"          { r->section = true; }
      | links variable ";"
      | links function ";"              { ptx_func_head_end(r, false); }
      | links function "{"              { ptx_func_head_end(r, true); }
      ;

/* ---- directives that end with their line ---- */

targets: WORD                           { ptx_target(r, $1); }
       | targets "," WORD               { ptx_target_option(r, $3); }
       ;
file: %empty
    | file "," INT
    ;
/* function_name LABEL + offset, inlined_at file line column */
inlined: %empty
       | inlined "," | inlined WORD | inlined INT | inlined "+"
       ;
strings: STRING
       | strings "," STRING
       ;
section: DOT | WORD
       ;
names: WORD                             { $$ = r->stack.n; ptx_push(r, ptx_use(r, $1)); }
     | names "," WORD                   { $$ = $1; ptx_push(r, ptx_use(r, $3)); }
     ;

/* ---- variables ---- */

links: %empty
     | links ".extern"                  { r->decl.is_extern = true; }
     | links ".visible"                 { r->decl.is_visible = true; }
     | links ".weak"                    { r->decl.is_visible = true; }
     | links ".common"                  { r->decl.is_visible = true; }
     ;
variable: SPACE                         { ptx_decl_begin(r, $1); }
          qualities declarators
        ;
qualities: %empty
         | qualities TYPE               { ptx_decl_type(r, $2); }
         | qualities VEC                { r->decl.vec = $2; }
         | qualities SPACE              { ptx_decl_space(r, $2); }
         | qualities ".align" INT       { ptx_decl_align(r, $3); }
         | qualities ".ptr"             { r->decl.pointee = true; }
         | qualities attribute
         ;
attribute: ".attribute" "(" words ")"
         ;
words: word
     | words "," word
     ;
word: DOT | DOT "(" integers ")"
    ;
declarators: declarator
           | declarators "," declarator
           ;
declarator: declared "<" INT ">"        { ptx_decl_range(r, $3); }
          | declared dims               { ptx_decl_end(r, false); }
          | declared dims "="           { ptx_init_begin(r); }
            initial                     { ptx_decl_end(r, true); }
          ;
declared: WORD                          { ptx_decl_name(r, $1); }
        ;
dims: %empty
    | dims "[" "]"                      { ptx_decl_dim(r, NULL); }
    | dims "[" expr "]"                 { ptx_decl_dim(r, &$3); }
    ;
initial: expr                           { ptx_init_value(r, $1); }
       | symbol                         { ptx_init_address(r, &$1); }
       | "{"                            { ptx_init_open(r); }
         values "}"                     { ptx_init_close(r); }
       ;
values: %empty
      | some_values
      ;
some_values: value
           | some_values "," value
           ;
value: initial
     | WORD "=" WORD                    { ptx_init_attribute(r); }
     | WORD "=" INT                     { ptx_init_attribute(r); }
     ;
symbol: name
      | sum
      | INT "(" name ")"                { $$ = ptx_masked(r, $1, $3); }
      | INT "(" sum ")"                 { $$ = ptx_masked(r, $1, $3); }
      ;
name: WORD                              { $$ = ptx_reloc($1, ptx_text(r, $1), false); }
    | WORD "(" WORD ")"                 { $$ = ptx_reloc($3, ptx_text(r, $3), true); }
    ;
sum: name "+" expr                      { $$ = ptx_moved(r, $1, $3, false); }
   | name "-" expr                      { $$ = $1; ptx_no_difference(r); }
   | sum "+" expr                       { $$ = ptx_moved(r, $1, $3, false); }
   | sum "-" expr                       { $$ = ptx_moved(r, $1, $3, true); }
   ;

/* ---- functions ---- */

function: ".entry"                      { ptx_func_begin(r, true); }
          named
        | ".func"                       { ptx_func_begin(r, false); r->head_results = true; }
          returned named
        ;
returned: %empty
        | returned attribute
        | returned "(" params ")"
        ;
named: WORD                             { ptx_func_name(r, $1); r->head_results = false; }
       tail
     ;
tail: %empty
    | tail "(" params ")"
    | tail attribute
    | tail LIMIT integers               { ptx_func_limit(r, $2); }
    | tail ".pragma" strings ";"
    ;
integers: %empty                        { r->nnumbers = 0; }
        | some_integers
        ;
some_integers: INT                      { r->numbers[0] = ptx_clipped($1); r->nnumbers = 1; }
             | some_integers "," INT    { if (r->nnumbers < 3) r->numbers[r->nnumbers++] = ptx_clipped($3); }
             ;
params: %empty
      | some_params
      ;
some_params: param
           | some_params "," param
           ;
param: SPACE                            { ptx_decl_begin(r, $1); }
       qualities param_name dims        { ptx_decl_param(r); }
     ;
param_name: WORD                        { ptx_decl_name(r, $1); }
          | "_"                         { ptx_decl_name(r, (PtxWord){0, 0, r->cur.line, r->cur.column}); }
          ;
prototype: prototype_params prototype_name prototype_params
         | prototype LIMIT integers
         ;
prototype_params: %empty
                | "(" params ")"
                ;
prototype_name: WORD | "_"
              ;

/* ---- instructions ---- */

instruction: WORD mods                  { r->stack.n = 0; }
             operands                   { ptx_instr(r, $1); }
           ;
mods: %empty
    | mods DOT                          { vec_push(r->arena, &r->mods, $2); }
    ;
operands: %empty                        { $$ = 0; }
        | list
        ;
list: operand                           { $$ = r->stack.n; ptx_push(r, $1); }
    | list "," operand                  { $$ = $1; ptx_push(r, $3); }
    ;
operand: item
       | "_"                            { $$ = (PtxOperand){.kind = PTX_SINK}; }
       | vector
       | address
       | address DOT                    { $$ = $1; vec_push(r->arena, &r->mods, $2); }
       | args
       | vector "|" half                { ptx_push(r, $1); ptx_push(r, $3); $$ = ptx_list(r, PTX_PAIR, r->stack.n - 2); }
       | first "|" half                 { ptx_push(r, $3); $$ = ptx_list(r, PTX_PAIR, r->stack.n - 2); }
       ;
first: half                             { $$ = $1; ptx_push(r, $1); }
     ;
half: WORD                              { $$ = ptx_use(r, $1); }
    | "_"                               { $$ = (PtxOperand){.kind = PTX_SINK}; }
    ;
item: ref
    | "!" WORD                          { $$ = ptx_negated(r, ptx_use(r, $2)); }
    | "-" WORD                          { $$ = ptx_negated(r, ptx_use(r, $2)); }
    | expr                              { $$ = ptx_constant($1); }
    ;
ref: base
   | moved
   ;
base: WORD                              { $$ = ptx_use(r, $1); }
    | WORD "[" expr "]"                 { $$ = ptx_element(r, ptx_use(r, $1), $3); }
    ;
moved: base "+" expr                    { $$ = ptx_offset(r, $1, $3, false); }
     | base "-" expr                    { $$ = $1; ptx_no_difference(r); }
     | moved "+" expr                   { $$ = ptx_offset(r, $1, $3, false); }
     | moved "-" expr                   { $$ = ptx_offset(r, $1, $3, true); }
     ;
vector: "{" vector_items "}"            { $$ = ptx_list(r, PTX_VECTOR, $<n>2); }
      ;
args: ARGS ")"                          { $$ = ptx_list(r, PTX_ARGS, r->stack.n); }
    | ARGS vector_items ")"             { $$ = ptx_list(r, PTX_ARGS, $<n>2); }
    ;
vector_items: vector_item               { $<n>$ = r->stack.n; ptx_push(r, $<operand>1); }
            | vector_items "," vector_item
                                        { $<n>$ = $<n>1; ptx_push(r, $<operand>3); }
            ;
vector_item: item                       { $<operand>$ = $1; }
           | "_"                        { $<operand>$ = (PtxOperand){.kind = PTX_SINK}; }
           ;
address: "[" addresses "]"              { $$ = ptx_address(r, $2); }
       ;
addresses: ref                          { $$ = r->stack.n; ptx_push(r, $1); }
         | expr                         { $$ = r->stack.n; ptx_push(r, ptx_constant($1)); }
         | addresses "," ref            { $$ = $1; ptx_push(r, $3); }
         | addresses "," expr           { $$ = $1; ptx_push(r, ptx_constant($3)); }
         | addresses "," vector         { $$ = $1; ptx_push(r, $3); }
         ;

/* ---- constant expressions ---- */

expr: INT
    | FLOAT
    | "(" expr ")"                      { $$ = $2; }
    | "(" TYPE ")" expr %prec UNARY     { $$ = ptx_cast(r, ptx_type_word($2), $4); }
    | "(" DOT ")" expr %prec UNARY      { $$ = ptx_cast(r, $2, $4); }
    | "-" expr %prec UNARY              { $$ = ptx_unary(r, PT_MINUS, $2); }
    | "+" expr %prec UNARY              { $$ = $2; }
    | "!" expr %prec UNARY              { $$ = ptx_unary(r, PT_NOT, $2); }
    | "~" expr %prec UNARY              { $$ = ptx_unary(r, PT_INV, $2); }
    | expr "*" expr                     { $$ = ptx_binary(r, PT_STAR, $1, $3); }
    | expr "/" expr                     { $$ = ptx_binary(r, PT_SLASH, $1, $3); }
    | expr "%" expr                     { $$ = ptx_binary(r, PT_PERCENT, $1, $3); }
    | expr "+" expr                     { $$ = ptx_binary(r, PT_PLUS, $1, $3); }
    | expr "-" expr                     { $$ = ptx_binary(r, PT_MINUS, $1, $3); }
    | expr "<<" expr                    { $$ = ptx_binary(r, PT_SHL, $1, $3); }
    | expr ">>" expr                    { $$ = ptx_binary(r, PT_SHR, $1, $3); }
    | expr "<" expr                     { $$ = ptx_binary(r, PT_LT, $1, $3); }
    | expr ">" expr                     { $$ = ptx_binary(r, PT_GT, $1, $3); }
    | expr "<=" expr                    { $$ = ptx_binary(r, PT_LE, $1, $3); }
    | expr ">=" expr                    { $$ = ptx_binary(r, PT_GE, $1, $3); }
    | expr "==" expr                    { $$ = ptx_binary(r, PT_EQ, $1, $3); }
    | expr "!=" expr                    { $$ = ptx_binary(r, PT_NE, $1, $3); }
    | expr "&" expr                     { $$ = ptx_binary(r, PT_AND, $1, $3); }
    | expr "^" expr                     { $$ = ptx_binary(r, PT_XOR, $1, $3); }
    | expr "|" expr                     { $$ = ptx_binary(r, PT_OR, $1, $3); }
    | expr "&&" expr                    { $$ = ptx_binary(r, PT_ANDAND, $1, $3); }
    | expr "||" expr                    { $$ = ptx_binary(r, PT_OROR, $1, $3); }
    | expr "?" expr ":" expr            { $$ = ptx_choose(r, $1, $3, $5); }
    ;

%%

const char *ptx_token_name(int kind)
{
    return yysymbol_name((yysymbol_kind_t)kind);
}

static int yyreport_syntax_error(const yypcontext_t *ctx, PtxReader *r)
{
    _Static_assert(YYNTOKENS == PT_UNARY + 1, "UNARY is declared last");
    yysymbol_kind_t found[YYNTOKENS];
    bool expected[YYNTOKENS] = {false};
    int n = yypcontext_expected_tokens(ctx, found, YYNTOKENS);
    for (int i = 0; i < n; i++) expected[found[i]] = true;
    ptx_syntax_error(r, expected);
    return 0;
}

/* Syntax errors are reported above: what remains is a full stack. */
static void yyerror(PtxReader *r, const char *msg)
{
    (void)msg;
    if (!r->said) ptx_problem(r, r->cur.line, "this is nested too deeply");
    r->said = true;
}
