"""Dates and times of day in the words of one language."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from hark.intents.speech.numbers import NARROW, SpokenNumbers, elided, ends_sentence, is_year
from hark.intents.speech.rules import SpokenRule, any_of, filled, rules_of, says
from hark.intents.speech.words import SpokenWords, spelled_by

_SHORTEST_MONTH: Final = 3
_JOINED: Final = r"\d[/.-]\d"
_YEAR: Final = r"\d{4}"
_DASHED: Final = "[\u2013-]"


def date_parts(words: SpokenWords) -> dict[str, str]:
    """The parts of patterns that are of dates and times."""
    signs = "".join(words.hour_signs)
    weekdays = any_of(words.weekdays)
    through = "|".join((rf" ?{_DASHED} ?", *(f" {re.escape(word)} " for word in words.through)))
    parts = {
        "start": r"(?<![\w.,:/-])",
        "end": r"(?![\w]|[.,:/-]\d)",
        "of": r"(?: d['\u2019]| de | del | of the | of | the | )",
        "months": any_of(_month_names(words.months)),
        "named_first": any_of(_month_names(words.months) if words.month_first else ()),
        "weekdays": weekdays,
        "through": through,
        "day_endings": any_of((*words.ordinals, ".", "°")),
        "clock": rf"(?P<hour>[01]?\d|2[0-3])(?: ?[{signs}] ?|:)" if signs else r"(?P<hour>[01]?\d|2[0-3]):",
        "after": rf"(?:[ {NARROW}]?(?:{any_of(words.time_after)})(?!\w))",
        "joint": any_of((words.range, words.conjunction)),
        "led": any_of(form for word in words.time_before for form in (word, word.capitalize())),
        "inflecting": r"(?:(?<!\w)(?P<word>\w{1,12}) )?" if words.hours_inflected else "(?P<word>(?!))?",
        "ordinal_words": any_of(words.ordinals_after),
        "year_words": any_of(words.years_after),
        "decade": words.decade or "(?!)",
        "halves_of_day": "[AaPp]" if words.halves_of_day else "(?!)",
        "time": words.time or "(?!)",
    }
    short = any_of(words.short_decades_after)
    parts["short_decade"] = rf"(?<!\w)(?:{short})[ -]|(?<=0s )\w{{2,5}} " if words.short_decades_after else r"(?<!\w)"
    parts["before_date"] = filled(
        r"(?:(?P<weekday><<weekdays>>)(?P<comma>[.,]{0,2}) )?(?:(?<!\w)(?P<word>\w{1,12}) )?", parts
    )
    parts["dotted"] = r"(?P<hour>[01]?\d|2[0-3])\.(?P<minute>[0-5]\d)(?!\d|\.\d)"
    parts["plain_dotted"] = parts["dotted"].replace("?P<", "?P<plain_")
    return parts


class SpokenDays:
    """How days are said that are joined to others: Mon-Fri, 10-12 May."""

    def __init__(self, dates: SpokenDates, parts: dict[str, str]) -> None:
        self._dates = dates
        self._numbers = dates.numbers
        self._words = dates.numbers.words
        self.rules: tuple[SpokenRule, ...] = rules_of(self, parts)

    @says(r"(?<!\w)(?P<first><<weekdays>>)\.?(?:<<through>>)(?P<last><<weekdays>>)(?!\w)\.?",
          hint=r"[^\W\d_]\.?(?:<<through>>)[^\W\d_]")  # fmt: skip
    def _from_day_to_day(self, found: re.Match[str]) -> str:
        days, words = self._words.weekdays, self._words
        link = next((words.abbreviations.get(word, word) for word in words.through if f" {word} " in found[0]), "")
        return f"{days[found['first']]} {link or words.range} {days[found['last']]}{_stop(found)}"

    @says(r"(?<!\w)(?P<day><<weekdays>>)\.(?=,| [^\W\d_A-ZÀ-Þ])", hint=r"\w\.[, ]")
    def _short_day(self, found: re.Match[str]) -> str:
        return self._words.weekdays[found["day"]]

    @says(rf"(?:(?<!\w)(?P<word>\w{{1,12}}) )?<<start>>(?P<first>\d{{1,2}})(?:<<day_endings>>)? ?{_DASHED} ?"
          r"(?P<rest>(?P<last>\d{1,2})(?:<<day_endings>>)?<<of>>(?P<month><<months>>)\b)",
          hint=rf"\d\S{{0,4}} ?{_DASHED} ?\d")  # fmt: skip
    def _to_day_of_month(self, found: re.Match[str]) -> str:
        """Two days of a month: both where the month is said first, else the first, before the second with its month."""
        return self._days_of_month(found, found["rest"])

    @says(rf"(?<!\w)(?P<month><<named_first>>)\.? (?P<first>\d{{1,2}})(?:<<day_endings>>)? ?{_DASHED} ?"
          r"(?P<last>\d{1,2})(?:<<day_endings>>)?<<end>>", hint=rf"\d\S{{0,4}} ?{_DASHED} ?\d",
          only="named_first")  # fmt: skip
    def _days_after_month(self, found: re.Match[str]) -> str:
        return self._days_of_month(found, "")

    def _days_of_month(self, found: re.Match[str], rest: str) -> str:
        first, last, word = int(found["first"]), int(found["last"]), _group(found, "word")
        if not 0 < first < last <= 31:
            return found[0]
        before, said = f"{word} " if word else "", f"{self._dates.day(first, word)} {self._words.range}"
        if not self._words.month_first:
            return f"{before}{said} {rest}"
        return f"{before}{self._dates.month(found['month'])} {said} {self._dates.day(last, word)}"


class SpokenDates:
    """How dates and times in figures are said."""

    def __init__(self, numbers: SpokenNumbers, parts: dict[str, str]) -> None:
        words = self._words = numbers.words
        self.numbers = numbers
        self._months = _month_names(words.months)
        self._carried = re.compile(rf"(?<!\w)(?P<word>{parts['ordinal_words']}) \d{{1,2}}\. ?$", re.IGNORECASE)
        self.rules: tuple[SpokenRule, ...] = rules_of(self, parts)

    @says(r"<<start>>(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?Z?)?<<end>>", hint=_JOINED)
    def _moment(self, found: re.Match[str]) -> str:
        said = self._date(int(found[1]), int(found[2]), int(found[3]))
        if said is None:
            return found[0]
        return f"{said}, {self.time(int(found[4]), int(found[5]), int(found[6] or 0))}" if found[4] else said

    @says(r"<<before_date>><<start>>(?P<one>\d{1,2})(?P<mark>[/.-])(?P<two>\d{1,2})"
          r"(?:(?P=mark)(?P<year>\d{4})<<end>>|(?<=\d)\.(?!\d))", hint=_JOINED)  # fmt: skip
    def _in_figures(self, found: re.Match[str]) -> str:
        year, mark, words = found["year"], found["mark"], self._words
        if not year and not (mark == "." and words.date_order == "dmy" and words.ordinals_after):
            return found[0]
        day, month = int(found["one"]), int(found["two"])
        if words.date_order == "mdy" and mark == "/" and day <= 12:
            day, month = month, day
        return self._led(found, self._date(int(year) if year else None, month, day, self._before(found)))

    @says(r"<<before_date>><<start>>(?P<day>\d{1,2})(?:<<day_endings>>)?<<of>>(?P<month><<months>>)\b\.?"
          r"(?:,?<<of>>(?P<year>\d{4}))?<<end>>", hint=r"\d.{0,8}(?:<<months>>)")  # fmt: skip
    def _day_first(self, found: re.Match[str]) -> str:
        return self._named(found)

    @says(r"<<before_date>>(?<!\w)(?P<month><<named_first>>)\.? (?P<day>\d{1,2})(?:<<day_endings>>)?"
          r"(?:, (?P<year>\d{4}))?<<end>>(?![ ]?(?:<<units>>)(?!\w))(?![.:]\d)", hint=r"(?:<<named_first>>)\.? \d",
          only="named_first")  # fmt: skip
    def _name_first(self, found: re.Match[str]) -> str:
        return self._named(found)

    @says(r"(?<![\w:.,])(?P<hour>1[0-2]|0?[1-9])(?:[:.](?P<minute>[0-5]\d))? ?(?P<half><<halves_of_day>>)"
          r"(?:m|M|\.m\.|\.M\.)(?!\w)", only="halves_of_day time")  # fmt: skip
    def _half_day(self, found: re.Match[str]) -> str:
        said = self._said_hour(int(found["hour"]), "")
        if found["minute"] and found["minute"] != "00":
            said = self.time(int(found["hour"]), int(found["minute"]))
        return f"{said} {found['half'].upper()} M{_stop(found)}"

    @says(r"(?<![\w.])(?:(?P<word><<led>>) <<dotted>>(?! ?(?:<<units>>)(?!\w))|<<plain_dotted>>"
          rf"(?:<<after>>|(?= ?(?:<<joint>>|{_DASHED}) ?\d{{1,2}}\.[0-5]\d<<after>>)))",
          hint=r"\d\.\d", only="time")  # fmt: skip
    def _dotted_time(self, found: re.Match[str]) -> str:
        return self._at(found, found["hour"] or found["plain_hour"], found["minute"] or found["plain_minute"])

    @says(r"<<inflecting>>(?<![\w:.,])\b<<clock>>(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d:]|[ ]?min\b)"
          "<<after>>?", only="time")  # fmt: skip
    def _clock_time(self, found: re.Match[str]) -> str:
        return self._at(found, found["hour"], found["minute"], found["second"])

    @says(r"(?P<before><<short_decade>>)(?P<tens>[2-9]0)['\u2019]?<<decade>>(?!\w)"
          r"|(?<!\w)(?P<year>\d{3}0)['\u2019]?<<decade>>(?!\w)", only="decade", flags=re.IGNORECASE)  # fmt: skip
    def _tens(self, found: re.Match[str]) -> str:
        if found["tens"]:
            said = self.numbers.said(found["tens"])
        elif is_year(found["year"]):
            said = self.numbers.year(int(found["year"]))
        else:
            return found[0]
        changed = self._words.decades.get(said[-1:])
        return (found["before"] or "") + (said[:-1] + changed if changed else said + self._words.decade)

    @says(r"(?:(?<!\w)(?P<word><<year_words>>) |\()(?P<year>\d{4})"
          r"(?=$|[).;:!?]|['\u2019]s\b|,(?!\d)| (?:[^\W\d_]{1,3}\b)|(?!-<<compounds>>)\s?[\u2013-])",
          hint=_YEAR, only="year_words", flags=re.IGNORECASE)  # fmt: skip
    def _year(self, found: re.Match[str]) -> str:
        figures = found["year"]
        return found[0].replace(figures, self.numbers.year(int(figures))) if is_year(figures) else found[0]

    def _named(self, found: re.Match[str]) -> str:
        """A date whose month has its name."""
        year, month = found["year"], self._months[found["month"]]
        said = self._date(int(year) if year else None, month, int(found["day"]), self._before(found))
        return self._led(found, said)

    def _led(self, found: re.Match[str], said: str | None) -> str:
        """A date with what stood before it: the short name of a day, a preposition."""
        if said is None:
            return found[0]
        weekday, word = _group(found, "weekday"), _group(found, "word")
        if word.lower() in self._words.not_before_date:
            word = ""
        comma = "," if "," in _group(found, "comma") else ""
        stop = _stop(found) if found[0].endswith(".") and "month" in found.groupdict() else ""
        led = f"{self._words.weekdays[weekday]}{comma} " if weekday else ""
        return f"{led}{word + ' ' if word else ''}{said}{stop}"

    def _before(self, found: re.Match[str]) -> str:
        """The word that decides how the day is said; of two days, the one before the first: am 1. und 2. Mai."""
        word, start = _group(found, "word"), found.start()
        carried = self._carried.search(found.string, max(0, start - 40), start) if word else None
        return carried["word"] if carried else word

    def _date(self, year: int | None, month: int, day: int, word: str = "") -> str | None:
        words = self._words
        try:
            date(year or 2000, month, day)
        except ValueError:
            return None
        form = words.date if year else words.day_month
        said_year = self.numbers.year(year) if year else ""
        written = form.format(day=self.day(day, word), month=words.months[month - 1], year=said_year)
        return elided(written) if words.elision else written

    def day(self, day: int, word: str) -> str:
        """The day of a date, after `word`."""
        words = self._words
        said = words.days[day - 1] if words.days else words.first_day if day == 1 else None
        if not said and words.day:
            said = spelled_by(day, words.rules, words.ordinals_after.get(word.lower(), words.day)) or str(day)
        return said or self.numbers.spelled(day)

    def month(self, name: str) -> str:
        """The name of a month, by the name or its beginning."""
        return self._words.months[self._months[name] - 1]

    def _at(self, found: re.Match[str], hour: str, minute: str, second: str | None = None) -> str:
        """A time of day, with the word before it."""
        word = _group(found, "word")
        said = self.time(int(hour), int(minute), int(second or 0), word)
        return f"{word} {said}" if word else said

    def _said_hour(self, hour: int, word: str) -> str:
        words = self._words
        if words.hours:
            return (words.hours_inflected if word.lower() in words.hours_inflected_after else words.hours)[hour]
        return self.numbers.spelled(hour, words.hour_gender)

    def time(self, hour: int, minute: int, second: int = 0, word: str = "") -> str:
        """A time of day, after `word`."""
        words = self._words
        said_hour = self._said_hour(hour, word)
        if minute == 0 and second == 0:
            if hour == 0 and words.midnight:
                return words.midnight
            said = (words.late_full_hour if hour > 12 and words.late_full_hour else words.full_hour).format(h=said_hour)
        else:
            minutes = self.numbers.spelled(minute)
            if minute < 10 and not minutes.isdigit():
                minutes = words.few_minutes.format(m=minutes)
            said = words.time.format(h=said_hour, m=minutes)
        if second:
            said += f", {self.numbers.of('s', str(second))}"
        if words.one_hour and (hour == 1 or (hour == 0 and words.zero_is_one)):
            said = said.replace(words.full_hour.rpartition(" ")[2], words.one_hour, 1)
        return said


def _month_names(months: tuple[str, ...]) -> dict[str, int]:
    """The number of each month by its name and by the beginnings of it that are of no other."""
    names: dict[str, int] = {}
    for number, month in enumerate(months, 1):
        for length in range(_SHORTEST_MONTH, len(month) + 1):
            begin = month[:length]
            if length == len(month) or (length < 6 and sum(other.startswith(begin) for other in months) == 1):
                names[begin] = names[begin.capitalize()] = number
    return names


def _group(found: re.Match[str], name: str) -> str:
    return found.groupdict().get(name) or ""


def _stop(found: re.Match[str]) -> str:
    """The full stop of an abbreviation that is that of the sentence as well."""
    return "." if found[0].endswith(".") and ends_sentence(found) else ""
