"""For the tests here when they are called as programs; pytest finds them as well."""


def raises(kind, words, f):
    """f raises kind, and its text has these words; the exception."""
    try:
        f()
    except kind as e:
        assert words in str(e), str(e)
        return e
    raise AssertionError(f"nothing was raised: {words}")


def run(functions):
    """Runs those named test_*, says how each went, and returns how many failed."""
    failed = 0
    for name, f in sorted(functions.items()):
        if name.startswith("test_"):
            try:
                f()
                print("passed", name)
            except Exception as e:  # all are to be seen
                failed += 1
                print("FAILED", name, type(e).__name__, e)
    return failed
