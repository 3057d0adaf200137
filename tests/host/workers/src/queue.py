"""Never imported: the standard library's module of this name comes first."""

raise AssertionError("the standard library must shadow this file")
