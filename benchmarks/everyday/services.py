"""Stand-ins for Open-Meteo, Wikipedia and Wiktionary on this machine, with the shapes of their responses.

The weather is a fixed week in November; the articles and definitions are written for this file. What is looked up is
kept in `requests`, so that a test can see what left the machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

FIRST_DAY = date(2026, 11, 17)

PLACES: dict[str, dict[str, Any]] = {
    "boston": {"id": 4930956, "name": "Boston", "latitude": 42.35843, "longitude": -71.05977, "elevation": 14.0,
               "feature_code": "PPLA", "country_code": "US", "timezone": "America/New_York", "population": 653833,
               "country": "United States", "admin1": "Massachusetts"},
    "paris": {"id": 2988507, "name": "Paris", "latitude": 48.85341, "longitude": 2.3488, "elevation": 42.0,
              "feature_code": "PPLC", "country_code": "FR", "timezone": "Europe/Paris", "population": 2138551,
              "country": "France", "admin1": "Île-de-France"},
    "lisbon": {"id": 2267057, "name": "Lisbon", "latitude": 38.71667, "longitude": -9.13333, "elevation": 45.0,
               "feature_code": "PPLC", "country_code": "PT", "timezone": "Europe/Lisbon", "population": 517802,
               "country": "Portugal", "admin1": "Lisbon"},
}  # fmt: skip
PLACES |= {
    "lissabon": PLACES["lisbon"],
    "lisboa": PLACES["lisbon"],
    "lisbonne": PLACES["lisbon"],
    "lisbona": PLACES["lisbon"],
    "parigi": PLACES["paris"],
    "parís": PLACES["paris"],
}

# weather code, highest and lowest temperature, chance and amount of rain, snow
DAYS = (
    (61, 9.4, 3.1, 80, 4.2, 0.0),
    (3, 11.0, 4.0, 20, 0.0, 0.0),
    (0, 12.3, 2.2, 0, 0.0, 0.0),
    (2, 10.1, 1.0, 10, 0.0, 0.0),
    (71, 1.8, -3.9, 70, 2.0, 1.4),
    (45, 5.0, -1.0, 15, 0.0, 0.0),
    (95, 8.0, 2.0, 90, 12.0, 0.0),
    (1, 9.0, 1.5, 5, 0.0, 0.0),
)

ARTICLES: dict[str, tuple[str, str]] = {
    "Ada Lovelace": ("English mathematician", "Ada Lovelace was an English mathematician and writer. She is known for "
                     "her notes on a mechanical computer. She died in 1852."),
    "Lisbon": ("Capital of Portugal", "Lisbon is the capital and largest city of Portugal. It lies at the mouth of the "
               "Tagus."),
    "Photosynthesis": ("Biological process", "Photosynthesis is how plants turn light into energy they can store."),
    "Marie Curie": ("Polish and French physicist", "Marie Curie was a physicist and chemist who studied "
                    "radioactivity."),
    "Eiffel Tower": ("Tower in Paris", "The Eiffel Tower is a lattice tower of iron in Paris, France."),
    "Jupiter": ("Fifth planet", "Jupiter is the fifth planet from the Sun and the largest one."),
}  # fmt: skip

DEFINITIONS: dict[str, tuple[str, str]] = {
    "serendipity": ("Noun", 'A combination of events that has a <a href="/wiki/good">good</a> outcome by chance.'),
    "ubiquitous": ("Adjective", "Being <b>everywhere</b> at once; found nearly anywhere."),
    "gregarious": ("Adjective", "Fond of the company of others; living in a flock or herd."),
}


class LocalServices:
    """A server on 127.0.0.1: `with LocalServices() as services: settings = services.settings()`."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        """The paths that were asked for."""
        self.broken = False
        """Whether every request is answered with an error."""
        services = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                services.requests.append(self.path)
                status, body = (503, {"error": "down"}) if services.broken else answer(self.path)
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_arguments: object) -> None:
                """Stay silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> LocalServices:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def settings(self) -> dict[str, dict[str, object]]:
        """The tables of [plugins] that send skills here."""
        root = f"http://127.0.0.1:{self._server.server_port}"
        return {
            "weather.skill": {"forecast_url": f"{root}/v1/forecast", "places_url": f"{root}/v1/search"},
            "facts.skill": {"wikipedia_url": f"{root}/wikipedia", "wiktionary_url": f"{root}/wiktionary"},
        }


def answer(path: str) -> tuple[int, Mapping[str, Any]]:
    """Status and body of the response to a path."""
    parts = urlsplit(path)
    query = {key: values[0] for key, values in parse_qs(parts.query).items()}
    tail = unquote(parts.path.rpartition("/")[2])
    if parts.path == "/v1/search":
        found = PLACES.get(query["name"].lower())
        return 200, {"generationtime_ms": 0.7, **({"results": [found]} if found else {})}
    if parts.path == "/v1/forecast":
        return 200, forecast(float(query["latitude"]), float(query["longitude"]), query["timezone"])
    if parts.path.startswith("/wikipedia/api/rest_v1/page/summary/"):
        return summary(tail.replace("_", " "))
    if parts.path == "/wikipedia/w/rest.php/v1/search/page":
        return 200, {"pages": [searched(title) for title in matching(query["q"])]}
    if parts.path.startswith("/wiktionary/api/rest_v1/page/definition/"):
        return definition(tail)
    return 404, {"type": "https://mediawiki.org/wiki/HyperSwitch/errors/not_found", "title": "Not found."}


def forecast(latitude: float, longitude: float, zone: str) -> dict[str, Any]:
    """What /v1/forecast returns."""
    columns = list(zip(*DAYS, strict=True))
    names = ("weather_code", "temperature_2m_max", "temperature_2m_min", "precipitation_probability_max",
             "precipitation_sum", "snowfall_sum")  # fmt: skip
    daily: dict[str, Any] = {"time": [str(FIRST_DAY + timedelta(days=index)) for index in range(len(DAYS))]}
    daily |= {name: list(values) for name, values in zip(names, columns, strict=True)}
    daily["wind_speed_10m_max"] = [21.0, 12.5, 8.0, 10.0, 30.2, 5.0, 41.0, 9.0]
    daily["sunrise"] = [f"{FIRST_DAY + timedelta(days=index)}T06:3{index}" for index in range(len(DAYS))]
    daily["sunset"] = [f"{FIRST_DAY + timedelta(days=index)}T16:1{index}" for index in range(len(DAYS))]
    return {
        "latitude": latitude,
        "longitude": longitude,
        "generationtime_ms": 0.21,
        "utc_offset_seconds": -18000,
        "timezone": "America/New_York" if zone == "auto" else zone,
        "timezone_abbreviation": "GMT-5",
        "elevation": 14.0,
        "current_units": {"time": "iso8601", "interval": "seconds", "temperature_2m": "°C"},
        "current": {
            "time": f"{FIRST_DAY}T20:00",
            "interval": 900,
            "temperature_2m": 7.2,
            "apparent_temperature": 4.9,
            "relative_humidity_2m": 81,
            "weather_code": 3,
            "wind_speed_10m": 16.1,
        },
        "daily_units": {"time": "iso8601", "weather_code": "wmo code", "temperature_2m_max": "°C"},
        "daily": daily,
    }


def summary(title: str) -> tuple[int, Mapping[str, Any]]:
    """What /page/summary/ returns."""
    found = next((name for name in ARTICLES if name.lower() == title.lower()), None)
    if found is None:
        return 404, {"type": "Internal error", "title": "Not found.", "status": 404}
    description, extract = ARTICLES[found]
    return 200, {
        "type": "standard",
        "title": found,
        "displaytitle": f"<span>{found}</span>",
        "lang": "en",
        "description": description,
        "extract": extract,
        "extract_html": f"<p>{extract}</p>",
    }


def matching(query: str) -> list[str]:
    """The titles that have every word of a query in title or article."""
    wanted = query.lower().split()
    return [name for name, texts in ARTICLES.items() if all(word in f"{name} {texts}".lower() for word in wanted)]


def searched(title: str) -> dict[str, Any]:
    """A page as /search/page lists it."""
    return {
        "id": 1,
        "key": title.replace(" ", "_"),
        "title": title,
        "excerpt": title,
        "description": ARTICLES[title][0],
    }


def definition(word: str) -> tuple[int, Mapping[str, Any]]:
    """What /page/definition/ returns."""
    if word.lower() not in DEFINITIONS:
        return 404, {"type": "Internal error", "title": "Not found.", "status": 404}
    kind, text = DEFINITIONS[word.lower()]
    entry = {"partOfSpeech": kind, "language": "English", "definitions": [{"definition": ""}, {"definition": text}]}
    return 200, {"en": [entry]}
