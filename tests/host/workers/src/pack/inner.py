NAME = "pack.inner"
