"""Never imported: the vendored package of this name comes first."""

raise AssertionError("python_modules must shadow this file")
