"""Converts a dataclass, such as a trained model, to numpy arrays and a JSON document, and back.

The dataclass may contain arrays, finite numbers, strings, None, tuples, lists, sets, mappings and further dataclasses
of such values. Nothing is pickled. The document contains no type names, so reading the document creates only objects of
the expected types.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

type Implementations = Mapping[Any, Any]
"""Maps each protocol to the dataclass that implements it, for instance `LearningModel` to `RidgesAndKernel`."""

_ARRAY_KEY = "array"


@dataclass(frozen=True, slots=True)
class LearntData:
    """A dataclass as arrays and a JSON document. The document refers to each array by its position.

    If several fields of the dataclass share an array, the array is stored once.
    """

    document: bytes
    arrays: tuple[NDArray[Any], ...]

    @classmethod
    def from_dataclass(cls, model: object) -> Self:
        """Convert the dataclass `model` to a document and arrays.

        Raises TypeError if the dataclass holds a value of a type that can't be converted.
        """
        arrays: list[NDArray[Any]] = []
        places: dict[int, int] = {}

        def named(value: object) -> object:
            if isinstance(value, np.ndarray):
                if id(value) not in places:
                    places[id(value)] = len(arrays)
                    arrays.append(value)
                return {_ARRAY_KEY: places[id(value)]}
            if isinstance(value, np.generic):
                return value.item()
            raise TypeError(f"a {type(value).__name__} is not plain data: it can't be kept")

        document = msgspec.json.encode(model, enc_hook=named)
        return cls(document, tuple(arrays))

    def restore[Model](self, model: type[Model], implementations: Implementations) -> Model:
        """Restore a dataclass of the type `model`.

        Raises ValueError if the document doesn't fit the type, or if an array is missing or has another dtype. The
        shapes of arrays are not checked.
        """

        def resolved(shape: Any, value: Any) -> Any:  # noqa: ANN401  msgspec's hook takes any type
            if shape in implementations:
                return msgspec.convert(value, implementations[shape], dec_hook=resolved, str_keys=True)
            array = self._array(value)
            _, dtype = get_args(shape)
            if array.dtype not in (np.dtype(scalar) for scalar in _scalar_types(dtype)):
                raise ValueError(f"an array has the unexpected type {array.dtype}")
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
    """Keeps learnt data, such as trained models, for other processes.

    The keeper may delete any data at any time, because they can be learnt again.
    """

    def find(self, name: str) -> LearntData | None:
        """Return the data kept under `name`. If there are none, or if they are unreadable or damaged, return None."""

    def keep(self, name: str, learnt: LearntData) -> None:
        """Keep `learnt` under `name`. If `learnt` can't be stored, no error is raised."""


def _scalar_types(dtype: Any) -> tuple[Any, ...]:  # noqa: ANN401  a parameter of a type
    """Return the scalar types inside `np.dtype[...]`, which holds one type or a union of types."""
    (scalar,) = get_args(dtype)
    return get_args(scalar) or (scalar,)
