#include "runtime/workspace.h"

#include "runtime/report.h"

bool workspace_open(Workspace *w, const Host *host)
{
    *w = (Workspace){.host = host};
    return pthread_mutex_init(&w->lock, NULL) == 0;
}

void workspace_close(Workspace *w, const CudaApi *api)
{
    for (uint32_t i = 0; api && i < w->nall; i++) api->MemFree(w->all[i]);
    pthread_mutex_destroy(&w->lock);
    host_free(w->host, w->rooms);
    host_free(w->host, w->all);
}

static tile_status no_memory(tile_error *err)
{
    return fail(err, TILE_ERROR_MEMORY, "out of memory");
}

/* The row of a place, or the free one where it belongs. There is a free one. */
static Room *find_row(Room *rows, uint32_t nrows, CuAddress place)
{
    uint64_t hash = (uint64_t)place * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
        Room *row = &rows[i & (nrows - 1)];
        if (!row->place || row->place == place) return row;
    }
}

static bool grow_table(Workspace *w)
{
    uint32_t n = w->nrows ? w->nrows * 2 : 16;
    Room *rows = host_zeros(w->host, n, sizeof *rows);
    if (!rows) return false;
    for (uint32_t i = 0; i < w->nrows; i++)
        if (w->rooms[i].place) *find_row(rows, n, w->rooms[i].place) = w->rooms[i];
    host_free(w->host, w->rooms);
    w->rooms = rows;
    w->nrows = n;
    return true;
}

static tile_status larger(Workspace *w, const CudaApi *api, Room *room, uint64_t bytes, tile_error *err)
{
    CuAddress *all = host_resize(w->host, w->all, (w->nall + (size_t)1) * sizeof *all);
    if (!all) return no_memory(err);
    w->all = all;
    uint64_t twice = 2 * room->bytes; /* so that all that were too small are no more than this one */
    if (bytes < twice) bytes = twice;
    const char *call;
    CuResult r = memory_of_no_graph(api, (size_t)bytes, false, &all[w->nall], &call);
    if (r != CU_OK && r != CU_OUT_OF_MEMORY) return cuda_failed(api, err, r, call);
    if (r != CU_OK)
        return fail_rule(err, TILE_ERROR_MEMORY, E1161,
                         "the driver has no %llu bytes for the tensor maps that this launch makes",
                         (unsigned long long)bytes);
    room->at = all[w->nall++];
    room->bytes = bytes;
    return TILE_OK;
}

static tile_status room_of(Workspace *w, const CudaApi *api, CuAddress place, uint64_t bytes, uint64_t *address,
                           tile_error *err)
{
    if (w->nrooms >= w->nrows / 2 && !grow_table(w)) return no_memory(err);
    Room *room = find_row(w->rooms, w->nrows, place);
    if (room->bytes < bytes) {
        tile_status s = larger(w, api, room, bytes, err);
        if (s != TILE_OK) return s;
    }
    if (!room->place) w->nrooms++;
    room->place = place;
    *address = room->at;
    return TILE_OK;
}

tile_status workspace_take(Workspace *w, Counters *c, const CudaApi *api, CuStream stream, uint64_t bytes,
                           uint64_t *address, tile_error *err)
{
    uint64_t place, *words[] = {&place};
    tile_status s = counters_take(c, api, stream, words, 1, err);
    if (s != TILE_OK) return s;
    pthread_mutex_lock(&w->lock);
    s = room_of(w, api, place, bytes, address, err);
    pthread_mutex_unlock(&w->lock);
    return s;
}
