"""What the SDK and nearly every Worker import from the standard library, for the snapshot."""

from importlib import import_module

NAMES = """
    asyncio collections.abc contextlib copy dataclasses datetime decimal email.message email.parser
    enum functools gc hashlib hmac http.client importlib.metadata inspect ipaddress json logging
    math numbers pathlib random re secrets string tempfile textwrap traceback types typing
    unicodedata urllib.parse urllib.request uuid zoneinfo
"""

for name in NAMES.split():
    import_module(name)
