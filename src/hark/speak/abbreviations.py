"""Words that end with a full stop which ends no sentence."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ALWAYS: Final = {
    "en": _words(
        "mr mrs ms dr prof st sr jr messrs mt ft gen col sgt capt lt cpl cmdr rev hon gov sen rep pres supt "
        "vs approx dept est ave blvd rd cf viz e.g i.e jan feb apr jun jul aug sept oct nov dec mon tue wed thu fri"
    ),
    "de": _words(
        "dr prof hr fr frl st str bzw ca evtl ggf ggfs inkl exkl max min mind sog vgl zzgl abzgl abs art bd hrsg jh "
        "jhd dipl ing mag geb gest verh tel z.b d.h u.a s.o s.u o.ä i.d.r v.a u.u i.a z.t jan feb apr aug sept okt "
        "nov dez"
    ),
    "es": _words(
        "sr sra sres sras srta dr dra dres d dña prof profa lic ing arq ud uds vd vds av avda pza aprox ej p.ej gral "
        "cnel cap sto sta mons rvdo ene feb abr jun jul ago sept oct nov dic"
    ),
    "fr": _words(
        "m mm mme mmes mlle mlles dr pr prof me mgr st ste av bd boul env ex p.ex éd cf tél apr janv févr avr juil "
        "sept oct nov déc"
    ),
    "it": _words(
        "sig sigg sig.ra sig.na sigra dott dott.ssa dr prof prof.ssa avv ing arch geom rag on sen mons p.es es ca cfr "
        "gen feb mar apr mag giu lug ago sett ott nov dic"
    ),
    "pt": _words(
        "sr sra srs sras srta dr dra drs prof profa eng arq d dom av pç aprox ex p.ex exmo exma ilmo ltda "
        "jan fev abr jun jul ago set out nov dez"
    ),
}
"""By language: titles and the like, after which the sentence goes on whatever follows."""

BEFORE_NUMBERS: Final = {
    "en": _words("no nos fig figs vol p pp ch sec art para ver"),
    "de": _words("nr nrn s fig abb bd kap ziff"),
    "es": _words("n núm núms nº pág págs fig vol cap art tel"),
    "fr": _words("n no nº n° p pp fig vol chap art tél"),
    "it": _words("n nn num pag pagg fig vol cap art tel"),
    "pt": _words("n núm n.º pág págs fig vol cap art tel"),
}
"""By language: words that are shortened in front of a number, and are words of their own elsewhere."""

ORDINALS: Final = frozenset({"de", "da", "nb", "nn", "no", "fi", "cs", "sk", "sl", "hr", "sr", "hu", "et", "lv"})
"""Languages in which a number with a full stop is the third, not the three."""
