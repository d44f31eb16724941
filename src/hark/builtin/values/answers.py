"""Yes and no."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from hark.builtin.values.text import key

_MOST_WORDS: Final = 12

_YES: Final[Mapping[str, str]] = {
    "en": "yes|yeah|yep|yup|aye|sure|sure thing|of course|certainly|absolutely|definitely|okay|ok|alright|all right|"
    "fine|go ahead|do it|do that|please do|that is right|that's right|right|correct|indeed|affirmative|why not|"
    "by all means|i do|i think so|i would|sounds good|go for it|yes it is|yes i do|you bet|exactly",
    "de": "ja|jawohl|jo|jep|jup|klar|na klar|klaro|sicher|aber sicher|natürlich|selbstverständlich|gerne|gern|"
    "sehr gerne|okay|ok|in ordnung|mach das|mach es|mach mal|tu das|stimmt|das stimmt|richtig|genau|korrekt|"
    "auf jeden fall|doch|warum nicht|von mir aus|einverstanden|ja doch|aber ja|unbedingt|passt",
    "es": "sí|claro|claro que sí|por supuesto|desde luego|vale|de acuerdo|está bien|bueno|ok|okay|correcto|exacto|"
    "eso es|hazlo|adelante|cómo no|por qué no|sin duda|afirmativo|así es|ya lo creo",
    "fr": "oui|ouais|ouaip|si|bien sûr|bien sûr que oui|bien entendu|d'accord|ok|okay|certainement|absolument|"
    "évidemment|tout à fait|volontiers|avec plaisir|vas y|allez y|fais le|faites le|c'est ça|exact|exactement|"
    "pourquoi pas|ça marche|entendu|affirmatif|mais oui|je veux bien",
    "it": "sì|certo|certo che sì|certamente|sicuro|naturalmente|ovviamente|va bene|d'accordo|ok|okay|esatto|giusto|"
    "esattamente|volentieri|fallo|procedi|perché no|come no|assolutamente sì|senz'altro|affermativo|direi di sì",
    "pt": "sim|claro|claro que sim|com certeza|certamente|está bem|tá bem|tá bom|está bom|ok|okay|certo|correto|"
    "correcto|exato|exatamente|isso|isso mesmo|pode ser|pode|faz isso|faça isso|por que não|porque não|"
    "sem dúvida|de acordo|concordo|com prazer|positivo",
}
_NO: Final[Mapping[str, str]] = {
    "en": "no|nope|nah|nay|no way|not really|not at all|of course not|certainly not|absolutely not|definitely not|"
    "never|don't|do not|don't do it|do not do it|don't do that|do not do that|i don't think so|"
    "i do not think so|i don't|i do not|i'd rather not|i would rather not|rather not|not now|negative|wrong|"
    "that is wrong|that's wrong|incorrect|by no means|no it isn't|no it is not|not today|i wouldn't|i would not",
    "de": "nein|nee|nö|ne|nein doch|auf keinen fall|keinesfalls|keineswegs|natürlich nicht|sicher nicht|bestimmt nicht|"
    "lieber nicht|besser nicht|nicht wirklich|niemals|nie|nicht jetzt|jetzt nicht|lass das|lass es|bloß nicht|"
    "falsch|das ist falsch|stimmt nicht|das stimmt nicht|gar nicht|überhaupt nicht|nicht nötig|danke nein|heute nicht",
    "es": "no|qué va|claro que no|por supuesto que no|desde luego que no|para nada|de ninguna manera|de ningún modo|"
    "en absoluto|ni hablar|nunca|jamás|mejor no|ahora no|no lo hagas|no quiero|creo que no|incorrecto|negativo|"
    "tampoco|hoy no",
    "fr": "non|nan|bien sûr que non|certainement pas|absolument pas|pas du tout|surtout pas|pas vraiment|jamais|"
    "en aucun cas|pas question|hors de question|pas maintenant|ne le fais pas|plutôt pas|c'est faux|faux|négatif|"
    "mais non|je ne crois pas|je ne pense pas|pas aujourd'hui|sûrement pas",
    "it": "no|certo che no|certamente no|assolutamente no|ovviamente no|per niente|niente affatto|macché|mai|"
    "neanche per sogno|in nessun caso|meglio di no|non ora|non adesso|non farlo|non credo|direi di no|sbagliato|"
    "negativo|non oggi",
    "pt": "não|claro que não|com certeza não|de jeito nenhum|de modo nenhum|de maneira nenhuma|nem pensar|nunca|jamais|"
    "de forma alguma|nada disso|agora não|melhor não|não faças isso|não faça isso|acho que não|errado|incorreto|"
    "negativo|hoje não|não quero",
}
_POLITE: Final[Mapping[str, str]] = {
    "en": "please|thanks|thank you|thank you very much|oh|well|hm|um|uh|that",
    "de": "bitte|danke|vielen dank|danke schön|bitte schön|ach|oh|na|also|hm|äh|dann",
    "es": "por favor|gracias|muchas gracias|ah|oh|pues|eh",
    "fr": "s'il te plaît|s'il vous plaît|merci|merci bien|merci beaucoup|ah|oh|ben|euh|eh bien",
    "it": "per favore|per piacere|grazie|grazie mille|ah|oh|beh|eh",
    "pt": "por favor|obrigado|obrigada|muito obrigado|muito obrigada|faz favor|se faz favor|ah|oh|bem|é",
}


def answer(text: str, code: str) -> bool | None:
    """Whether `text` says yes (True) or no (False); None when it says neither, both, or more than that."""
    table, longest = _table(code)
    words = key(text).split()
    if not words or len(words) > _MOST_WORDS:
        return None
    said: set[bool] = set()
    start = 0
    while start < len(words):
        for end in range(min(len(words), start + longest), start, -1):
            phrase = " ".join(words[start:end])
            if phrase in table:
                break
        else:
            return None
        meaning = table[phrase]
        if meaning is not None:
            said.add(meaning)
        start = end
    return said.pop() if len(said) == 1 else None


@cache
def _table(code: str) -> tuple[dict[str, bool | None], int]:
    """What each phrase says (None: nothing), and the most words in one."""
    table: dict[str, bool | None] = {key(phrase): None for phrase in _POLITE.get(code, "").split("|")}
    table |= {key(phrase): True for phrase in _YES.get(code, "").split("|")}
    table |= {key(phrase): False for phrase in _NO.get(code, "").split("|")}
    table.pop("", None)
    return table, max((phrase.count(" ") + 1 for phrase in table), default=0)
