"""Toolboxes: typed functions that a language model, or any program on the bus, may call (TOOLS-1)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints, overload

import msgspec

from hark.plugins.plugin import Plugin

F = TypeVar("F", bound=Callable[..., Any])

_MARK: Final = "__hark_tool__"


class MalformedTool(ValueError):
    """A declaration of a toolbox cannot be used. The text names the method and what to write."""


@dataclass(frozen=True)
class Tool:
    """A tool of a toolbox, ready to be called."""

    name: str
    """Unique in its toolbox."""
    description: str
    """What it does and when to use it, written for a model."""
    argument_schema: Mapping[str, Any]
    """The JSON Schema of an object: its arguments."""
    output_schema: Mapping[str, Any]
    """The JSON Schema of its result."""
    function: Callable[..., Any]
    """What is called with the checked arguments, by name: `def` on a worker thread, `async def` on the event loop."""
    check_arguments: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """Takes arguments as they came, returns them with their types; raises `ValueError` where they do not fit."""
    check_result: Callable[[Any], Any]
    """Takes what `function` returned, returns it as JSON; raises `ValueError` where it does not fit."""
    dangerous: bool = False
    """Whether a persona has to ask the user before it calls this one."""
    timeout: float = 30.0
    """Seconds that a call may take."""

    def definition(self, toolbox_id: str) -> dict[str, Any]:
        """The tool as it is described on the bus (TOOLS-1 §3), with `dangerous` where it is."""
        described: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "argument_schema": dict(self.argument_schema),
            "output_schema": dict(self.output_schema),
            "toolbox_id": toolbox_id,
        }
        if self.dangerous:
            described["dangerous"] = True
        return described


@dataclass(frozen=True)
class _ToolMark:
    name: str
    description: str
    dangerous: bool
    timeout: float


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *, name: str | None = None, description: str | None = None, dangerous: bool = False, timeout: float = 30.0
) -> Callable[[F], F]: ...
def tool(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    dangerous: bool = False,
    timeout: float = 30.0,
) -> Any:
    """Make a method of a `Toolbox` a tool: `@tool`, or `@tool(dangerous=True)`.

    Its parameters and what it returns have annotations, from which the JSON Schemas are made and by which arguments and
    results are checked; `Annotated[str, "a room of the house"]` describes a parameter. The docstring is the
    description. A `dangerous` tool is called by a persona only after the user said yes.
    """

    def mark(method: F) -> F:
        about = description or inspect.getdoc(method) or ""
        setattr(method, _MARK, _ToolMark(name or method.__name__, about, dangerous, timeout))
        return method

    return mark if function is None else mark(function)


class Toolbox(Plugin):
    """A group of tools. Its id is the `toolbox_id` of TOOLS-1: letters, digits, `_` and `-`."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        named: dict[str, str] = {}
        for attribute, mark in _marks(cls).items():
            if mark.name in named:
                other = named[mark.name]
                raise MalformedTool(f"{cls.__qualname__}: {other} and {attribute} are both the tool {mark.name!r}")
            named[mark.name] = attribute
            read_tool(getattr(cls, attribute), mark.name)

    async def refresh(self) -> None:
        """Called before tools are listed. For toolboxes whose tools come from elsewhere."""

    def toolboxes(self) -> Mapping[str, Sequence[Tool]]:
        """The tools by toolbox_id. One box with the `@tool` methods, unless a subclass says otherwise."""
        return {self.id: self.tools()}

    def tools(self) -> Sequence[Tool]:
        """The tools at this moment: the `@tool` methods, unless a subclass has others."""
        return self._marked_tools

    @cached_property
    def _marked_tools(self) -> Sequence[Tool]:
        return [
            read_tool(
                getattr(self, attribute),
                mark.name,
                description=mark.description,
                dangerous=mark.dangerous,
                timeout=mark.timeout,
            )
            for attribute, mark in _marks(type(self)).items()
        ]


def read_tool(
    function: Callable[..., Any],
    name: str,
    *,
    description: str = "",
    dangerous: bool = False,
    timeout: float = 30.0,
) -> Tool:
    """The tool of a typed function; raises `MalformedTool` where its annotations do not say enough."""
    where = getattr(function, "__qualname__", name)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise MalformedTool(f"{where} is a generator; return the result")
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception as error:  # noqa: BLE001 - an annotation is an expression of the author
        raise MalformedTool(f"{where}: an annotation cannot be read: {error}") from None
    arguments = _arguments(function, where, name, hints)
    if "return" not in hints:
        raise MalformedTool(f"{where} does not say what it returns; write: -> str")
    returned = hints["return"]
    try:
        argument_schema, output_schema = _schema(arguments), _schema(returned)
        decoder = msgspec.json.Decoder(arguments)
    except (TypeError, ValueError) as error:
        raise MalformedTool(f"{where}: no JSON Schema can be made of its annotations: {error}") from None
    fields: tuple[str, ...] = arguments.__struct_fields__

    def check_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
        read = decoder.decode(msgspec.json.encode(given))
        return {field: getattr(read, field) for field in fields}

    def check_result(result: Any) -> Any:
        try:
            plain = msgspec.to_builtins(result, str_keys=True)
            msgspec.convert(plain, returned, str_keys=True)
        except (TypeError, ValueError, NotImplementedError) as error:
            raise ValueError(str(error)) from None
        return plain

    return Tool(
        name,
        description or f"{name.replace('_', ' ')}",
        argument_schema,
        output_schema,
        function,
        check_arguments,
        check_result,
        dangerous,
        timeout,
    )


def _marks(cls: type) -> dict[str, _ToolMark]:
    members = {name: member for owner in reversed(cls.__mro__) for name, member in vars(owner).items()}
    found = {name: getattr(member, _MARK, None) for name, member in members.items()}
    return {name: mark for name, mark in found.items() if isinstance(mark, _ToolMark)}


def _arguments(function: Callable[..., Any], where: str, name: str, hints: Mapping[str, Any]) -> type[msgspec.Struct]:
    """The arguments of a function as a struct."""
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name == "self" and "self" not in hints and not inspect.ismethod(function):
        parameters = parameters[1:]
    fields: list[Any] = []
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise MalformedTool(f"{where}: {parameter} has no name in a schema; name every parameter")
        if parameter.name not in hints:
            raise MalformedTool(f"{where}: {parameter.name} has no type; write: {parameter.name}: str")
        hint = _described(hints[parameter.name])
        if parameter.default is parameter.empty:
            fields.append((parameter.name, hint))
        elif isinstance(parameter.default, (list, dict, set)):
            fields.append((parameter.name, hint, msgspec.field(default_factory=parameter.default.copy)))
        else:
            fields.append((parameter.name, hint, parameter.default))
    try:
        return msgspec.defstruct(f"{name}_arguments", fields, forbid_unknown_fields=True, kw_only=True)
    except (TypeError, ValueError) as error:
        raise MalformedTool(f"{where}: {error}") from None


def _described(hint: Any) -> Any:
    """`Annotated[str, "a room"]` with its text as the description of the field."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *notes = get_args(hint)
    metas = tuple(msgspec.Meta(description=note) if isinstance(note, str) else note for note in notes)
    return Annotated[(kind, *metas)]


def _schema(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type; what it refers to is in `$defs`."""
    (schema,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    reference = schema.get("$ref", "")
    if reference and len(schema) == 1:
        name = reference.rpartition("/")[2]
        schema = dict(parts[name])
        if f'"{reference}"' not in msgspec.json.encode([schema, parts]).decode():
            parts.pop(name)
    schema.pop("title", None)
    return {**schema, "$defs": parts} if parts else schema
