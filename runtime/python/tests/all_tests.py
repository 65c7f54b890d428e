"""For the tests here when they are called as programs; pytest finds them as well."""


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
