"""A model's learning as plain data, from which the model is made again: numpy arrays and a JSON document.

It works for any dataclass that holds arrays, finite numbers, texts, None, tuples, lists, sets, mappings, and other
dataclasses of these; a point model whose state is to be kept consists of such. Nothing is pickled: the document names
no types, so that reading it makes no other objects than those that are expected.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

type Shapes = Mapping[Any, Any]
"""The dataclass that stands for each protocol, as `RidgesAndKernel` for `Learning`."""

_ARRAY = "array"


@dataclass(frozen=True, slots=True)
class Learnt:
    """A JSON document, and the arrays that it names by their place; an array that two parts share is there once."""

    document: bytes
    arrays: tuple[NDArray[Any], ...]

    @classmethod
    def by(cls, model: object) -> Self:
        """Take a dataclass apart. Raises TypeError for one that holds anything else than plain data."""
        arrays: list[NDArray[Any]] = []
        places: dict[int, int] = {}

        def named(value: object) -> object:
            if isinstance(value, np.ndarray):
                if id(value) not in places:
                    places[id(value)] = len(arrays)
                    arrays.append(value)
                return {_ARRAY: places[id(value)]}
            if isinstance(value, np.generic):
                return value.item()
            raise TypeError(f"a {type(value).__name__} is no plain data: it can't be kept")

        document = msgspec.json.encode(model, enc_hook=named)
        return cls(document, tuple(arrays))

    def restored[Model](self, model: type[Model], shapes: Shapes) -> Model:
        """Put a dataclass together again, with these arrays. Raises ValueError where they aren't one."""

        def resolved(shape: Any, value: Any) -> Any:  # noqa: ANN401  msgspec's hook takes any type
            if shape in shapes:
                return msgspec.convert(value, shapes[shape], dec_hook=resolved, str_keys=True)
            array = self._array(value)
            _, dtype = get_args(shape)
            if array.dtype not in (np.dtype(scalar) for scalar in _scalars(dtype)):
                raise ValueError(f"an array is of {array.dtype}")
            return array

        try:
            return msgspec.json.decode(self.document, type=model, dec_hook=resolved)
        except msgspec.DecodeError as error:
            raise ValueError(str(error)) from error

    def _array(self, value: object) -> NDArray[Any]:
        match value:
            case {"array": int(place)} if 0 <= place < len(self.arrays):
                return self.arrays[place]
        raise ValueError("an array is missing")


class LearntKeeper(Protocol):
    """Keeps what was learnt for later processes. It may forget anything at any time: that costs only time."""

    def find(self, name: str) -> Learnt | None:
        """Return what is kept under a name, whole or not at all."""

    def keep(self, name: str, learnt: Learnt) -> None:
        """Keep something under a name, if that can be."""


def _scalars(dtype: Any) -> tuple[Any, ...]:  # noqa: ANN401  a parameter of a type
    """Return the kinds of numbers that `np.dtype[...]` stands for, one or a union of them."""
    (scalar,) = get_args(dtype)
    return get_args(scalar) or (scalar,)
