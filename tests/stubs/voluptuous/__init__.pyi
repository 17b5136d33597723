# What the type checker takes `voluptuous` for. Custom integrations import that, and since 2026.9 Home Assistant puts
# probatio in its place at run time. Its own signatures name probatio: without this file there would be two Schema
# classes, and neither would pass for the other.

from probatio import ALLOW_EXTRA as ALLOW_EXTRA
from probatio import All as All
from probatio import Any as Any
from probatio import Coerce as Coerce
from probatio import In as In
from probatio import Invalid as Invalid
from probatio import Length as Length
from probatio import Marker as Marker
from probatio import Optional as Optional
from probatio import Range as Range
from probatio import Required as Required
from probatio import Schema as Schema
