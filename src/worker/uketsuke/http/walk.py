"""Hold a JSON value against the fields of a Struct, and find every fault at once.

``msgspec.convert`` stops at the first fault and names no JSON Pointer; so this walks, and
``convert`` has the last word on what this does not know (a kind's own ``__post_init__``).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sized
from functools import lru_cache
from itertools import islice
from types import MappingProxyType, NoneType
from typing import Any, Final

import msgspec
from msgspec import inspect as shapes

from uketsuke.http.pointer import ROOT, Pointer
from uketsuke.http.problem import Fault, FaultCode

_Rule = Callable[[Any, Any, Pointer], Iterator[Fault]]


def find_faults(
    value: object, struct: type[msgspec.Struct], *, pointer: Pointer = ROOT
) -> Iterator[Fault]:
    """Find what keeps ``value`` from being a ``struct``. Lazy: take only as many as are wanted.

    Members that the struct does not have are always faults.
    """
    sound = True
    for fault in _walk(value, _shape_of(struct), pointer):
        sound = False
        yield fault
    if sound and not _converts(value, struct):
        yield _fault(pointer, "bad_value", "These values do not fit together.")


@lru_cache(maxsize=64)
def _shape_of(struct: type[msgspec.Struct]) -> shapes.Type:
    return shapes.type_info(struct)


def _converts(value: object, struct: type[msgspec.Struct]) -> bool:
    try:
        msgspec.convert(value, struct)
    except msgspec.ValidationError:
        return False
    return True


def _walk(value: object, shape: shapes.Type, pointer: Pointer) -> Iterator[Fault]:
    alternatives = _alternatives(shape)
    fitting = next((one for one in alternatives if _has_type(value, one)), None)
    if fitting is None:
        wanted = " or ".join(_name_of(one) for one in alternatives)
        yield _fault(pointer, "wrong_type", f"Give {wanted} here.")
    elif type(fitting) in _RULES:
        yield from _RULES[type(fitting)](value, fitting, pointer)


def _alternatives(shape: shapes.Type) -> tuple[shapes.Type, ...]:
    if isinstance(shape, shapes.Metadata):
        return _alternatives(shape.type)
    if isinstance(shape, shapes.UnionType):
        return tuple(one for each in shape.types for one in _alternatives(each))
    return (shape,)


def _has_type(value: object, shape: shapes.Type) -> bool:
    if isinstance(shape, shapes.LiteralType):
        return type(value) in {type(one) for one in shape.values}
    # type() and not isinstance(): True is no whole number.
    return type(shape) not in _TYPES or type(value) in _TYPES[type(shape)][0]


def _name_of(shape: shapes.Type) -> str:
    return _one_of(shape) if isinstance(shape, shapes.LiteralType) else _TYPES[type(shape)][1]


def _one_of(shape: shapes.LiteralType) -> str:
    return "one of " + ", ".join(str(one) for one in shape.values)


def _literal(value: object, shape: shapes.LiteralType, pointer: Pointer) -> Iterator[Fault]:
    if value not in shape.values:
        yield _fault(pointer, "bad_value", f"Give {_one_of(shape)} here.")


def _text(value: str, shape: shapes.StrType, pointer: Pointer) -> Iterator[Fault]:
    yield from _size(value, shape, pointer, unit="characters")
    if shape.pattern is not None and not re.search(_to_the_end(shape.pattern), value):
        yield _fault(pointer, "bad_value", f"Give a string that matches {shape.pattern} here.")


def _to_the_end(pattern: str) -> str:
    # To JSON Schema, in which patterns are published, $ is the end; to Python also a newline's.
    anchored = pattern.endswith("$") and not pattern.endswith(r"\$")
    return pattern[:-1] + r"\Z" if anchored else pattern


def _number(
    value: float, shape: shapes.IntType | shapes.FloatType, pointer: Pointer
) -> Iterator[Fault]:
    bounds = (
        (shape.ge, "at least", operator.ge),
        (shape.gt, "more than", operator.gt),
        (shape.le, "at most", operator.le),
        (shape.lt, "less than", operator.lt),
    )
    wanted = [(words, bound, holds) for bound, words, holds in bounds if bound is not None]
    if not all(holds(value, bound) for _, bound, holds in wanted):
        told = " and ".join(f"{words} {bound}" for words, bound, _ in wanted)
        yield _fault(pointer, "out_of_range", f"Give a number of {told} here.")


def _array(value: list[object], shape: shapes.ListType, pointer: Pointer) -> Iterator[Fault]:
    yield from _size(value, shape, pointer, unit="items")
    # What lies beyond the limit must go anyway; to walk it would let a caller keep us busy.
    for place, item in enumerate(value[: shape.max_length]):
        yield from _walk(item, shape.item_type, pointer.child(place))


def _pairs(value: dict[str, object], shape: shapes.DictType, pointer: Pointer) -> Iterator[Fault]:
    yield from _size(value, shape, pointer, unit="members")
    for name, item in islice(value.items(), shape.max_length):
        yield from _walk(name, shape.key_type, pointer.child(name))
        yield from _walk(item, shape.value_type, pointer.child(name))


def _struct(
    value: dict[str, object], shape: shapes.StructType, pointer: Pointer
) -> Iterator[Fault]:
    fields = {field.encode_name: field for field in shape.fields}
    for name in (name for name in value if name not in fields):
        yield _fault(pointer.child(name), "unknown_member", "There is no such member; leave it.")
    for name, field in fields.items():
        if name in value:
            yield from _walk(value[name], field.type, pointer.child(name))
        elif field.required:
            yield _fault(pointer.child(name), "missing", f"{name} is required.")


def _size(
    value: Sized,
    shape: shapes.StrType | shapes.ListType | shapes.DictType,
    at: Pointer,
    *,
    unit: str,
) -> Iterator[Fault]:
    least, most = shape.min_length or 0, shape.max_length
    if len(value) < least:
        code: FaultCode = "bad_value" if len(value) else "empty"
        yield _fault(at, code, f"Give at least {least} {unit} here.")
    if most is not None and len(value) > most:
        yield _fault(at, "too_long", f"Give at most {most} {unit} here.")


def _fault(pointer: Pointer, code: FaultCode, detail: str) -> Fault:
    return Fault(pointer=str(pointer), code=code, detail=detail)


# The types of JSON values that a shape takes, and their name. What is not here takes all.
_TYPES: Final[MappingProxyType[type, tuple[frozenset[type], str]]] = MappingProxyType(
    {
        shapes.NoneType: (frozenset({NoneType}), "null"),
        shapes.BoolType: (frozenset({bool}), "true or false"),
        shapes.IntType: (frozenset({int}), "a whole number"),
        shapes.FloatType: (frozenset({int, float}), "a number"),
        shapes.StrType: (frozenset({str}), "a string"),
        shapes.ListType: (frozenset({list}), "an array"),
        shapes.DictType: (frozenset({dict}), "an object"),
        shapes.StructType: (frozenset({dict}), "an object"),
    }
)
_RULES: Final[MappingProxyType[type, _Rule]] = MappingProxyType(
    {
        shapes.LiteralType: _literal,
        shapes.StrType: _text,
        shapes.IntType: _number,
        shapes.FloatType: _number,
        shapes.ListType: _array,
        shapes.DictType: _pairs,
        shapes.StructType: _struct,
    }
)
