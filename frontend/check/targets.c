/* Which target the program is compiled for: what it lists, what was asked for. */
#include "frontend/check/check.h"

static const TargetInfo *find_target(Checked *ch, const char *name, Span at)
{
    const TargetInfo *t = target_find(name);
    if (t) return t;
    Diag *g = diag_at(ch->c->diags, E0802, at, "`%s` is not a target with asynchronous copies", name);
    const char *near = older_target_find(name) ? NULL : target_nearest(name);
    if (older_target_find(name)) diag_fix(ch->c->diags, g, "the least target that has them is %s", target_at(0)->name);
    else if (near) diag_fix(ch->c->diags, g, "did you mean `%s`?", near);
    return NULL;
}

static void one_target_line(Checked *ch)
{
    const Item *first = NULL;
    for (const Item *it = ch->main->unit->first; it; it = it->next) {
        if (it->kind != IT_TARGET) continue;
        if (first) {
            Diag *g = diag_at(ch->c->diags, E0214, it->span, "a second target line");
            diag_label(ch->c->diags, g, first->span, "the first one");
            diag_fix(ch->c->diags, g, "list all targets in one line: `target sm_90a, sm_100a;`");
        }
        first = first ? first : it;
    }
}

void target_pick(Checked *ch, const char *arch)
{
    const char *fallback = ch->c->default_arch ? ch->c->default_arch : "sm_90a";
    const TargetInfo *first = NULL, *wanted = arch ? target_find(arch) : NULL, *preferred = target_find(fallback);
    bool listed = false, preferred_listed = false, any = false;
    Span where = {0, 0};
    one_target_line(ch);
    for (Item *it = ch->main->unit->first; it; it = it->next) {
        if (it->kind != IT_TARGET) continue;
        for (IdentItem *p = it->path; p; p = p->next) {
            const TargetInfo *t = find_target(ch, names_text(ch->c->names, p->id.name), p->id.span);
            where = any ? span_join(where, p->id.span) : p->id.span;
            any = true;
            if (!first) first = t;
            if (t && target_today(t) == target_today(wanted)) listed = true;
            if (t && t == preferred) preferred_listed = true;
        }
    }
    if (wanted && any && !listed && first) {
        Diag *g = diag_at(ch->c->diags, E0803, where, "%s is none of the targets of this program", arch);
        diag_fix(ch->c->diags, g, "-arch=%s, or list %s here", first->name, arch);
    }
    bool here = ch->c->default_arch && preferred_listed;
    ch->c->target = wanted && (listed || !any) ? wanted : !any || here ? preferred : first;
    if (!ch->c->target) ch->c->target = target_find("sm_90a");
}
