"""Dates and times of day in the words of one language."""

from __future__ import annotations

import re
from datetime import date

from hark.intents.speech.numbers import SpokenNumbers, any_of, forms_and_gender, is_year
from hark.intents.speech.words import spelled, spelled_by

_START = r"(?<![\w.,:/-])"
_END = r"(?![\w]|[.,:/-]\d)"
_JOINED = re.compile(r"\d[/.-]\d")
_YEAR = re.compile(r"\d{4}")
_NUMBERS = re.compile(r"\d\S{0,4} ?[\u2013-] ?\d")
_DASHED = re.compile(r"[^\W\d_]\.? ?[\u2013-] ?[^\W\d_]")
_SHORTEST_MONTH = 3


class SpokenDates:
    """How dates and times in figures are said in one language."""

    def __init__(self, numbers: SpokenNumbers, *, month_first: bool, units: str) -> None:
        words = self._words = numbers.words
        self._numbers = numbers
        self._month_first = month_first
        self._month_first_named = words.month_first
        self._english = bool(words.late_full_hour)
        self._months = _month_names(words.months)
        months, weekdays = any_of(self._months), any_of(words.weekdays)
        endings = any_of((*words.ordinals, ".", "°"))
        of = r"(?: d['\u2019]| de | del | of | the | )"
        before = (
            rf"(?:(?P<weekday>{weekdays})(?P<comma>[.,]{{0,2}}) )?(?:(?<!\w)(?P<word>\w{{1,12}}) )?"
            if words.weekdays
            else ""
        )
        year = rf"(?:,?{of}(?P<year>\d{{4}}))?"
        self._iso = re.compile(rf"{_START}(\d{{4}})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?Z?)?{_END}")
        self._figures = re.compile(
            rf"{before}{_START}(\d{{1,2}})(?P<mark>[/.-])(\d{{1,2}})(?:(?P=mark)(\d{{4}}){_END}|(?<=\d)\.(?!\d))"
        )
        self._days = re.compile(
            rf"(?<!\w)(?P<first>{weekdays})\.? ?[\u2013-] ?(?P<last>{weekdays})(?!\w)\.?" if words.weekdays else "(?!)"
        )
        self._carried = re.compile(rf"(?<!\w)(?P<word>{any_of(words.ordinals_after)}) \d{{1,2}}\. ?$", re.IGNORECASE)
        self._month = re.compile(rf"\d.{{0,8}}(?:{months})|(?:{months})\.? \d")
        self._day_first = re.compile(
            rf"{before}{_START}(?P<day>\d{{1,2}})(?:{endings})?{of}(?P<month>{months})\b\.?{year}{_END}"
        )
        self._name_first = re.compile(
            rf"{before}(?<!\w)(?P<month>{months})\.? (?P<day>\d{{1,2}})(?:{endings})?(?:, (?P<year>\d{{4}}))?{_END}"
            rf"(?![ ]?(?:{units})(?!\w))(?![.:]\d)"
        )
        after = rf"(?:[ ]?(?:{any_of(words.time_after)})(?!\w))" if words.time_after else "(?!)"
        signs = "".join(words.hour_signs)
        clock = rf"(?P<hour>[01]?\d|2[0-3])(?: ?[{signs}] ?|:)" if signs else r"(?P<hour>[01]?\d|2[0-3]):"
        inflected = r"(?:(?<!\w)(?P<word>\w{1,12}) )?" if words.hours_inflected else "(?P<word>(?!))?"
        self._time = re.compile(
            rf"{inflected}(?<![\w:.,])\b{clock}(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d:]|[ ]?min\b){after}?"
        )
        dotted = r"(?P<hour>[01]?\d|2[0-3])\.(?P<minute>[0-5]\d)(?!\d|\.\d)"
        led = any_of(words.time_before)
        until = rf"(?= ?(?:{re.escape(words.range)}|[\u2013-]) ?\d{{1,2}}\.[0-5]\d{after})"
        self._dotted = re.compile(
            rf"(?<![\w.])(?:(?P<led>{led}) {dotted}(?! ?(?:{units})(?!\w))|{_plain(dotted)}(?:{after}|{until}))"
        )
        self._meridiem = re.compile(
            r"(?<![\w:.,])(?P<hour>1[0-2]|0?[1-9])(?::(?P<minute>[0-5]\d))? ?(?P<half>[AaPp])(?:m|M|\.m\.|\.M\.)(?!\w)"
        )
        dash = r" ?[\u2013-] ?"
        self._days_of_month = re.compile(
            rf"(?:(?<!\w)(?P<word>\w{{1,12}}) )?{_START}(?P<first>\d{{1,2}})(?:{endings})?{dash}"
            rf"(?P<rest>(?P<last>\d{{1,2}})(?:{endings})?{of}(?P<month>{months})\b)"
        )
        self._month_and_days = re.compile(
            rf"(?<!\w)(?P<month>{months})\.? (?P<first>\d{{1,2}})(?:{endings})?{dash}(?P<last>\d{{1,2}})"
            rf"(?:{endings})?{_END}"
        )
        self._year = re.compile(
            rf"(?:(?<!\w)(?P<word>{any_of(words.years_after)}) |\()(?P<year>\d{{4}})"
            rf"(?=$|[).;:!?]|['\u2019]s\b|,(?!\d)| (?:[^\W\d_]{{1,3}}\b)|\s?[\u2013-])"
            if words.years_after
            else "(?!)",
            re.IGNORECASE,
        )
        short = (
            rf"(?<!\w)(?:{any_of(words.short_decades_after)})[ -]|(?<=0s )\w{{2,5}} "
            if words.short_decades_after
            else r"(?<!\w)"
        )
        self._decade = re.compile(
            rf"(?P<before>{short})(?P<tens>[2-9]0)['\u2019]?{words.decade}(?!\w)"
            rf"|(?<!\w)(?P<year>\d{{3}}0)['\u2019]?{words.decade}(?!\w)"
            if words.decade
            else "(?!)",
            re.IGNORECASE,
        )

    def days(self, text: str) -> str:
        """`text` with days written out that have a dash between them: Mon-Fri, 10-12 May."""
        if _DASHED.search(text):
            text = self._days.sub(self._from_day_to_day, text)
        if _NUMBERS.search(text) and self._month.search(text):
            text = self._days_of_month.sub(self._from_date, text)
            if self._month_first_named:
                text = self._month_and_days.sub(self._from_date, text)
        return text

    def write(self, text: str) -> str:
        """`text` with its dates and times written out."""
        if is_joined := _JOINED.search(text) is not None:
            text = self._iso.sub(self._moment, text)
            text = self._figures.sub(self._in_figures, text)
        if self._month.search(text):
            text = self._day_first.sub(self._named, text)
            if self._words.month_first:
                text = self._name_first.sub(self._named, text)
        if self._words.time:
            if self._english:
                text = self._meridiem.sub(self._half_day, text)
            if is_joined:
                text = self._dotted.sub(self._dotted_time, text)
            text = self._time.sub(self._clock_time, text)
        if self._words.decade:
            text = self._decade.sub(self._tens, text)
        if _YEAR.search(text) is None:
            return text
        return self._year.sub(lambda found: found[0].replace(found["year"], self._as_year(found["year"])), text)

    def _moment(self, found: re.Match[str]) -> str:
        said = self._date(int(found[1]), int(found[2]), int(found[3]))
        if said is None:
            return found[0]
        return f"{said}, {self.time(int(found[4]), int(found[5]), int(found[6] or 0))}" if found[4] else said

    def _in_figures(self, found: re.Match[str]) -> str:
        *_, first, separator, second, year = found.groups()
        if not year and not (separator == "." and self._words.date_order == "dmy" and self._words.ordinals_after):
            return found[0]
        one, other = int(first), int(second)
        day, month = (other, one) if self._month_first and separator == "/" else (one, other)
        if self._month_first and separator == "/" and month > 12:
            day, month = month, day
        said = self._date(int(year) if year else None, month, day, self._before(found))
        return found[0] if said is None else self._led(found, said)

    def _named(self, found: re.Match[str]) -> str:
        year = found["year"]
        month = self._months[found["month"]]
        said = self._date(int(year) if year else None, month, int(found["day"]), self._before(found))
        return found[0] if said is None else self._led(found, said)

    def _led(self, found: re.Match[str], said: str) -> str:
        """A date with what stood before it: the short name of a day, a preposition."""
        weekday, word = _group(found, "weekday"), _group(found, "word")
        if word in ("the", "The") and self._month_first_named:
            word = ""
        comma = "," if "," in _group(found, "comma") else ""
        return f"{self._words.weekdays[weekday] + comma + ' ' if weekday else ''}{word + ' ' if word else ''}{said}"

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
        said_year = self._numbers.year(year) if year else ""
        written = form.format(day=self._day(day, word), month=words.months[month - 1], year=said_year)
        return elided(written) if words.elision else written

    def _day(self, day: int, word: str) -> str:
        """The day of a date, after `word`."""
        words, rules = self._words, self._numbers.rules
        said = words.days[day - 1] if words.days else words.first_day if day == 1 else None
        if not said and words.day:
            said = spelled_by(day, rules, words.ordinals_after.get(word.lower(), words.day)) or str(day)
        return said or spelled(day, rules)

    def _from_date(self, found: re.Match[str]) -> str:
        """Two days of a month: both where the month is said first, else the first, before the second with its month."""
        first, last, word = int(found["first"]), int(found["last"]), _group(found, "word")
        if not 0 < first < last <= 31:
            return found[0]
        before, said = f"{word} " if word else "", f"{self._day(first, word)} {self._words.range}"
        if not self._month_first_named:
            return f"{before}{said} {found['rest']}"
        month = self._words.months[self._months[found["month"]] - 1]
        return f"{before}{month} {said} {self._day(last, word)}"

    def _as_year(self, figures: str) -> str:
        return self._numbers.year(int(figures)) if is_year(figures) else figures

    def _tens(self, found: re.Match[str]) -> str:
        if found["tens"]:
            said = self._numbers.said(found["tens"])
        elif is_year(found["year"]):
            said = self._numbers.year(int(found["year"]))
        else:
            return found[0]
        before = found["before"] or ""
        if self._english:
            return f"{before}{said[:-1]}ies" if said.endswith("y") else f"{before}{said}s"
        return before + said + self._words.decade

    def _from_day_to_day(self, found: re.Match[str]) -> str:
        days = self._words.weekdays
        stop = "." if found[0].endswith(".") and _ends_sentence(found) else ""
        return f"{days[found['first']]} {self._words.range} {days[found['last']]}{stop}"

    def _half_day(self, found: re.Match[str]) -> str:
        said = self._said_hour(int(found["hour"]), "")
        if found["minute"] and found["minute"] != "00":
            said = self.time(int(found["hour"]), int(found["minute"]))
        stop = "." if found[0].endswith(".") and _ends_sentence(found) else ""
        return f"{said} {found['half'].upper()} M{stop}"

    def _dotted_time(self, found: re.Match[str]) -> str:
        hour, minute = found["hour"] or found["plain_hour"], found["minute"] or found["plain_minute"]
        led = f"{found['led']} " if found["led"] else ""
        return f"{led}{self.time(int(hour), int(minute), word=found['led'] or '')}"

    def _clock_time(self, found: re.Match[str]) -> str:
        word = found["word"]
        said = self.time(int(found["hour"]), int(found["minute"]), int(found["second"] or 0), word or "")
        return f"{word} {said}" if word else said

    def _said_hour(self, hour: int, word: str) -> str:
        words = self._words
        if words.hours:
            return (words.hours_inflected if word.lower() in words.hours_inflected_after else words.hours)[hour]
        return spelled(hour, self._numbers.rules, words.hour_gender)

    def time(self, hour: int, minute: int, second: int = 0, word: str = "") -> str:
        """A time of day, after `word`."""
        words = self._words
        said_hour = self._said_hour(hour, word)
        if minute == 0 and second == 0:
            if hour == 0 and words.midnight:
                return words.midnight
            said = (words.late_full_hour if hour > 12 and words.late_full_hour else words.full_hour).format(h=said_hour)
        else:
            minutes = spelled(minute, self._numbers.rules)
            if self._english and minute < 10 and not minutes.isdigit():
                minutes = f"oh {minutes}"
            said = words.time.format(h=said_hour, m=minutes)
        if second:
            forms, gender = forms_and_gender(words.units["s"])
            figures = str(second)
            said += f", {self._numbers.said(figures, None, gender)} {self._numbers.form(forms, figures)}"
        if hour == 1 and words.one_hour:
            plural = words.full_hour.rpartition(" ")[2]
            said = said.replace(plural, words.one_hour, 1)
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


def _plain(pattern: str) -> str:
    return pattern.replace("?P<", "?P<plain_")


def _group(found: re.Match[str], name: str) -> str:
    return found.groupdict().get(name) or ""


def _ends_sentence(found: re.Match[str]) -> bool:
    rest = found.string[found.end() :]
    return not rest.strip() or re.match(r"\s+[A-Z]", rest) is not None


def elided(text: str) -> str:
    """`text` with "de" before a vowel shortened."""
    return re.sub(r"\bde (?=[aeiouàâéèêëíïòóôúAEIOU])", "d'", text)
