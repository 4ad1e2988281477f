"""Tables of the written language: what signs, units, currencies and abbreviations are called.

Data only; which of them stands in a text is decided by `reading` and `amounts`.
"""

from __future__ import annotations

# sign -> (one whole, many wholes, one part, many parts)
CURRENCIES: dict[str, tuple[str, str, str, str]] = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "€": ("euro", "euros", "cent", "cents"),
    "¥": ("yen", "yen", "sen", "sen"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
}

SCALES: dict[str, str] = {
    "k": "thousand",
    "K": "thousand",
    "m": "million",
    "M": "million",
    "b": "billion",
    "B": "billion",
    "bn": "billion",
    "T": "trillion",
    "thousand": "thousand",
    "million": "million",
    "billion": "billion",
    "trillion": "trillion",
}

# unit -> (for exactly one, for any other number); only read as a unit right after a number
UNITS: dict[str, tuple[str, str]] = {
    "%": ("percent", "percent"),
    "°C": ("degree Celsius", "degrees Celsius"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°": ("degree", "degrees"),
    "km/h": ("kilometer per hour", "kilometers per hour"),
    "m/s": ("meter per second", "meters per second"),
    "mph": ("mile per hour", "miles per hour"),
    "fps": ("frame per second", "frames per second"),
    "km": ("kilometer", "kilometers"),
    "cm": ("centimeter", "centimeters"),
    "mm": ("millimeter", "millimeters"),
    "m": ("meter", "meters"),
    "ft": ("foot", "feet"),
    "mi": ("mile", "miles"),
    "kg": ("kilogram", "kilograms"),
    "mg": ("milligram", "milligrams"),
    "g": ("gram", "grams"),
    "lb": ("pound", "pounds"),
    "lbs": ("pound", "pounds"),
    "oz": ("ounce", "ounces"),
    "ml": ("milliliter", "milliliters"),
    "mL": ("milliliter", "milliliters"),
    "L": ("liter", "liters"),
    "ms": ("millisecond", "milliseconds"),
    "sec": ("second", "seconds"),
    "min": ("minute", "minutes"),
    "hr": ("hour", "hours"),
    "hrs": ("hour", "hours"),
    "h": ("hour", "hours"),
    "Hz": ("hertz", "hertz"),
    "kHz": ("kilohertz", "kilohertz"),
    "MHz": ("megahertz", "megahertz"),
    "GHz": ("gigahertz", "gigahertz"),
    "KB": ("kilobyte", "kilobytes"),
    "kB": ("kilobyte", "kilobytes"),
    "MB": ("megabyte", "megabytes"),
    "GB": ("gigabyte", "gigabytes"),
    "TB": ("terabyte", "terabytes"),
    "KiB": ("kibibyte", "kibibytes"),
    "MiB": ("mebibyte", "mebibytes"),
    "GiB": ("gibibyte", "gibibytes"),
    "kW": ("kilowatt", "kilowatts"),
    "W": ("watt", "watts"),
    "V": ("volt", "volts"),
    "x": ("times", "times"),
    "×": ("times", "times"),
}

# signs that are spoken where they stand between other things
SIGNS: dict[str, str] = {
    "&": "and",
    "+": "plus",
    "=": "equals",
    "@": "at",
    "%": "percent",
    "°": "degrees",
    "×": "times",
    "÷": "divided by",
    "±": "plus or minus",
    "≈": "about",
    "≤": "at most",
    "≥": "at least",
    "≠": "not equal to",
    "£": "pounds",
    "€": "euros",
    "$": "dollars",
    "√": "square root of",
    "∞": "infinity",
    "π": "pie",
    "§": "section",
}

# inside addresses (web, mail, files)
ADDRESS_SIGNS: dict[str, str] = {
    ".": "dot",
    "/": "slash",
    "-": "dash",
    "_": "underscore",
    "@": "at",
    ":": "colon",
    "+": "plus",
    "=": "equals",
    "?": "question mark",
    "&": "and",
    "#": "hash",
    "~": "tilde",
    "%": "percent",
}

# abbreviations, without their period and in lower case; each table has its own condition, checked by `reading`
ALWAYS: dict[str, str] = {
    "vs": "versus",
    "etc": "etcetera",
    "approx": "approximately",
    "dept": "department",
}
WHEN_CAPITAL: dict[str, str] = {
    "jr": "junior",
    "sr": "senior",
    "inc": "incorporated",
    "ltd": "limited",
    "corp": "corporation",
    "co": "company",
    "ave": "avenue",
    "blvd": "boulevard",
    "rd": "road",
    "jan": "January",
    "feb": "February",
    "apr": "April",
    "aug": "August",
    "sept": "September",
    "oct": "October",
    "nov": "November",
    "dec": "December",
    "mon": "Monday",
    "tue": "Tuesday",
    "tues": "Tuesday",
    "wed": "Wednesday",
    "thu": "Thursday",
    "thurs": "Thursday",
    "fri": "Friday",
}
BEFORE_NAME: dict[str, str] = {
    "dr": "doctor",
    "mr": "Mr",
    "mrs": "Mrs",
    "ms": "Ms",
    "prof": "professor",
    "st": "saint",
    "mt": "mount",
    "gen": "general",
    "col": "colonel",
    "sgt": "sergeant",
    "capt": "captain",
    "lt": "lieutenant",
    "gov": "governor",
    "sen": "senator",
    "rep": "representative",
    "rev": "reverend",
}
BEFORE_NUMBER: dict[str, str] = {"no": "number", "nos": "numbers", "fig": "figure", "est": "established", "p": "page"}
AFTER_NAME: dict[str, str] = {"st": "street", "dr": "drive"}
# read this way only with their inner periods
DOTTED: dict[str, str] = {"e.g": "for example", "i.e": "that is"}

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
