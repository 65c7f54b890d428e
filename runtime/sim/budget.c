#include "runtime/sim/budget.h"

union BudgetHead { /* in front of each allocation */
    struct {
        size_t bytes;
        BudgetHead *next, **link;
    } s;
    max_align_t align;
};

static void unlink_head(BudgetHead *h)
{
    *h->s.link = h->s.next;
    if (h->s.next) h->s.next->s.link = h->s.link;
}

static void link_head(Budget *b, BudgetHead *h)
{
    h->s.next = b->first;
    h->s.link = &b->first;
    if (b->first) b->first->s.link = &h->s.next;
    b->first = h;
}

void *budget_realloc(void *user, void *p, size_t n)
{
    Budget *b = user;
    BudgetHead *h = p ? (BudgetHead *)p - 1 : NULL;
    size_t old = h ? h->s.bytes : 0;
    if (n == 0) {
        if (h) unlink_head(h);
        b->left += old;
        host_free(b->host, h);
        return NULL;
    }
    if (n > old && n - old > b->left) return NULL;
    if (h) unlink_head(h);
    BudgetHead *moved = host_resize(b->host, h, n + sizeof *h);
    if (moved) {
        b->left = b->left + old - n;
        moved->s.bytes = n;
        h = moved;
    }
    if (h) link_head(b, h);
    return moved ? moved + 1 : NULL;
}

void budget_drop(Budget *b)
{
    while (b->first) {
        BudgetHead *h = b->first;
        unlink_head(h);
        host_free(b->host, h);
    }
}
