"""Answers questions from standard input with Python's own modules: one a line, tab-separated `name kind:base64 ...`; a line back for each,
`ok base64` or `error`."""

import base64
import calendar
import hashlib
import hmac
import re
import sys
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from urllib.parse import quote
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1)
EXACT = Context(prec=2000, rounding=ROUND_HALF_UP)


def argument(part):
    kind, coded = part.split(":", 1)
    text = base64.b64decode(coded).decode("utf-8")
    if kind == "date":
        return EPOCH + timedelta(milliseconds=int(text))
    if kind == "real":
        return float(text)
    return int(text) if kind == "integer" else Decimal(text) if kind == "decimal" else text


def real_text(value):
    """Shortest digits that read back, plain from 10^-3 to 10^7, else with an exponent."""
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    digits = "".join(map(str, digits)).lstrip("0")
    stripped = digits.rstrip("0")
    exponent += len(digits) - len(stripped)
    minus = "-" if sign else ""
    if not stripped:
        return minus + "0.0"
    if 1e-3 <= abs(value) < 1e7:
        plain = format(Decimal((0, tuple(map(int, stripped)), exponent)), "f")
        return minus + (plain if "." in plain else plain + ".0")
    return f"{minus}{stripped[0]}.{stripped[1:] or '0'}E{exponent + len(stripped) - 1}"


def to_decimal(value, scale):
    if isinstance(value, str):
        if not re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", value, re.ASCII):
            raise ValueError
        value = Decimal(value.strip())
    elif isinstance(value, float):
        value = Decimal(repr(value))
    rounded = EXACT.quantize(Decimal(value), Decimal(1).scaleb(-scale))
    return format(rounded if rounded else abs(rounded), "f")  # the language has no negative zero here


def to_date(text):
    found = re.fullmatch(
        r"(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?", text, re.ASCII
    )
    if not found:
        raise ValueError
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    zone = found[8] or "Z"
    offset = timedelta(0)
    if zone != "Z":
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:].replace(":", "") or 0)) * (1 if zone[0] == "+" else -1)
    millis = int((found[7] or "0").ljust(3, "0")[:3])
    return millis_text(datetime(year, month, day, hour, minute, second) - offset + timedelta(milliseconds=millis))


def millis_text(at):
    return str((at - EPOCH) // timedelta(milliseconds=1))


def part(name, d):
    monday = d.isoweekday() - 1
    return str(
        {
            "getMilliseconds": d.microsecond // 1000,
            "getSeconds": d.second,
            "getMinutes": d.minute,
            "getHours": d.hour,
            "getDate": d.day,
            "getMonth": d.month,
            "getFullYear": d.year,
            "getDay": d.isoweekday(),
            "week": d.isocalendar()[1],
            "HoW": monday * 24 + d.hour,
            "MoW": (monday * 24 + d.hour) * 60 + d.minute,
            "DoY": d.timetuple().tm_yday,
            "MoD": d.hour * 60 + d.minute,
            "SoD": (d.hour * 60 + d.minute) * 60 + d.second,
            "SoH": d.minute * 60 + d.second,
        }[name]
    )


def truncated(d, unit):
    names = ["DAYS", "HALF_DAYS", "HOURS", "MINUTES", "SECONDS", "MILLIS"]
    level = names.index(unit)
    return millis_text(
        d.replace(
            hour=d.hour if level >= 2 else d.hour // 12 * 12 if level == 1 else 0,
            minute=d.minute if level >= 3 else 0,
            second=d.second if level >= 4 else 0,
            microsecond=d.microsecond if level >= 5 else 0,
        )
    )


def months_later(d, months):
    year, month = divmod(d.year * 12 + d.month - 1 + months, 12)
    day = min(d.day, calendar.monthrange(year, month + 1)[1])
    return millis_text(d.replace(year=year, month=month + 1, day=day))


def zone_offset(zone, d):
    minutes = round(ZoneInfo(zone).utcoffset(d.replace(tzinfo=timezone.utc).astimezone(ZoneInfo(zone))).total_seconds() / 60)
    return "Z" if minutes == 0 else f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def answer(name, args):
    if name.startswith("Hash.hmac"):
        return hmac.new(args[0].encode(), args[1].encode(), name[9:].lower()).hexdigest()
    if name.startswith("Hash."):
        return hashlib.new(name[5:], args[0].encode()).hexdigest()
    if name == "Encode.base64":
        return base64.b64encode(args[0].encode()).decode()
    if name == "encodeUri":
        return quote(args[0], safe=";,/?:@&=+$#-_.!~*'()")
    if name == "encodeUriComponent":
        return quote(args[0], safe="-_.!~*'()")
    if name == "toDecimal":
        return to_decimal(*args)
    if name == "toString":
        return real_text(args[0])
    if name == "toDate":
        return to_date(args[0])
    if name == "truncateTo":
        return truncated(*args)
    if name == "addMonth":
        return months_later(*args)
    return zone_offset(*args) if name == "timezoneOffset" else part(name, args[0])


def main():
    for line in sys.stdin:
        name, *parts = line.rstrip("\n").split("\t")
        try:
            text = answer(name, [argument(part) for part in parts])
            print("ok\t" + base64.b64encode(text.encode()).decode())
        except (ValueError, OverflowError, InvalidOperation):
            print("error")


main()
