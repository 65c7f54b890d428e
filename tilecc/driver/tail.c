tile_status sim_device_open(const char *words, const Host *host, tile_device **out, tile_error *err)
{
    (void)words;
    (void)host;
    *out = NULL;
    return fail(err, TILE_ERROR_UNSUPPORTED, "there is no simulator here: it needs libtile (--emit=c)");
}
