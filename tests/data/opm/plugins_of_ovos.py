"""Plugins in the shapes of both lines of OVOS, small enough to read."""

import wave


class OldUpper:
    """The oldest shape: the constructor is given no configuration and reads it, the whole context is returned."""

    def __init__(self, name="old-upper", priority=1):
        self.config = {}
        self.suffix = self.config.get("suffix", "none")

    def bind(self, bus):
        self.bus = bus

    def initialize(self):
        self.ready = True

    def transform(self, utterances, context=None):
        context["old.lang"] = context["lang"]
        context["old.suffix"] = self.suffix
        context["source"] = "forged"
        context["session"] = {"session_id": "forged"}
        context["old.object"] = object()
        return [text.upper() for text in utterances], context

    def default_shutdown(self):
        self.ready = False


class NewReverse:
    """The newest shape: configuration by keyword, additional context returned."""

    def __init__(self, config=None):
        self.config = config or {}

    def bind(self, bus):
        self.bus = bus

    def transform(self, utterances, context=None):
        return [text[::-1] for text in utterances], {}


class Cancel:
    def __init__(self, name="cancel", priority=1, config=None):
        pass

    def transform(self, utterances, context=None):
        if utterances[0].endswith("forget it"):
            return [], {"canceled": True, "cancel_word": "forget it"}
        return utterances, {}


class Broken:
    def __init__(self, config=None):
        raise RuntimeError("the model is missing")


class Metadata:
    def __init__(self, config=None):
        self.config = config or {}

    def transform(self, context=None):
        return {**context, "seen.by": "metadata"}


class Entities:
    """Adds slots to a match, from entities that it hears of by the legacy registration."""

    def __init__(self, config=None):
        self.names = {}

    def bind(self, bus):
        bus.on("padatious:register_entity", self.learn)

    def learn(self, message):
        self.names.update(dict.fromkeys(message.data["samples"], message.data["name"]))

    def transform(self, intent):
        for word in intent.utterance.split():
            if word in self.names:
                intent.match_data[self.names[word]] = word
        intent.match_data["count"] = 3
        intent.match_data["junk"] = [1, 2]
        return intent


class Shout:
    """A dialog transformer that returns the text alone."""

    def __init__(self, name="shout", priority=5):
        self.config = {}

    def transform(self, dialog, context=None):
        return dialog + "!"


class Shorten:
    """Works on the file: the first half of the sound."""

    def __init__(self, config=None):
        pass

    def transform(self, wav_file, context=None):
        with wave.open(wav_file) as sound:
            form, half = sound.getparams(), sound.readframes(sound.getnframes() // 2)
        with wave.open(wav_file + ".short.wav", "wb") as sound:
            sound.setparams(form)
            sound.writeframes(half)
        return wav_file + ".short.wav", context


class Nothing:
    def __init__(self, config=None):
        pass

    def transform(self, wav_file, context=None):
        return None, context


class Quiet:
    """An audio transformer, which knows raw bytes."""

    def __init__(self, config=None):
        pass

    def feed_speech_utterance(self, samples):
        return samples

    def transform(self, samples):
        return bytes(len(samples)), {"stt_lang": "de-DE", "quiet.rate": self.sample_rate}

    def reset(self):
        pass


class Found:
    """What a matcher returns."""

    def __init__(self, match_type, match_data, utterance):
        self.match_type, self.match_data, self.utterance = match_type, match_data, utterance


class Matcher:
    """Knows sentences by the legacy registration, once it was told to train; also claims for a listener of its own."""

    def __init__(self, bus=None, config=None):
        from ovos_bus_client import MessageBusClient

        if not isinstance(bus, MessageBusClient):  # as ovos-workshop checks it
            raise TypeError(f"Expected a MessageBusClient, got: {type(bus)}")
        self.bus, self.config = bus, config or {}
        self.heard, self.sentences, self.words = {}, {}, {}
        bus.on("padatious:register_intent", self.register)
        bus.on("register_vocab", self.vocabulary)
        bus.on("register_intent", self.keywords)
        bus.on("detach_skill", self.detach)
        bus.on("mycroft.skills.train", self.train)
        bus.on("matcher.answer", self.answer)

    def register(self, message):
        for sample in message.data["samples"]:
            self.heard[sample] = message.data["name"]

    def vocabulary(self, message):
        self.words[message.data["entity_value"]] = message.data["entity_type"]

    def keywords(self, message):
        self.needed = message.data["name"], {kind for kind, _ in message.data["requires"]}

    def detach(self, message):
        skill_id = message.data["skill_id"]
        self.heard = {text: name for text, name in self.heard.items() if not name.startswith(skill_id)}

    def train(self, message):
        self.sentences = dict(self.heard)

    def answer(self, message):
        from ovos_bus_client.message import Message

        self.bus.emit(Message("speak", {"utterance": f"answered {message.data['topic']}"}))

    def match_high(self, utterances, lang, message):
        for text in utterances:
            if text in self.sentences:
                assert message.context["utterance_id"], "it belongs to a turn"
                return Found(self.sentences[text], {"conf": 1.0, "lang_of_message": message.context["lang"]}, text)
        return None

    def match_medium(self, utterances, lang, message):
        [text, *_] = utterances
        if text.startswith("answer me"):
            return Found("matcher.answer", {"topic": "the topic"}, text)
        if text == "nonsense":
            return Found("no dispatch topic at all", {}, text)
        name, needed = getattr(self, "needed", ("", set()))
        said = {self.words[word]: word for word in text.split() if word in self.words}
        if needed and needed <= set(said):
            return Found(name, {**said, "confidence": 0.9, "intent_type": name, "__tags__": []}, text)
        return None

    def match_low(self, utterances, lang, message):
        return Found("low.skill:claims_everything", {}, utterances[0])


class Recogniser:
    """The newest shape: candidates with confidence."""

    available_languages = {"en-us", "de-de"}

    def __init__(self, config=None):
        self.config = config or {}

    def transcribe(self, audio, lang=None):
        return [('"what time is it"', 0.8), ("what dime is it", 0.1)]


class OldRecogniser:
    def __init__(self):
        self.config = {}

    def execute(self, audio, language=None):
        return f"heard {self.config['word']} in {language}"


class Voice:
    """The oldest shape: the language comes first."""

    def __init__(self, lang="en-us", config=None):
        self.rate = config["rate"]

    def get_tts(self, sentence, wav_file):
        with wave.open(wav_file, "wb") as sound:
            sound.setparams((1, 2, self.rate, 0, "NONE", ""))
            sound.writeframes(bytes(2 * self.rate))
        return wav_file, None


class Activity:
    def __init__(self, config=None, sample_rate=None):
        self.sample_rate = sample_rate

    def is_silence(self, chunk):
        return not any(chunk)


class Hotword:
    def __init__(self, key_phrase="hey", config=None):
        self.phrase, self.seen = key_phrase, b""

    def update(self, chunk):
        self.seen += chunk

    def found_wake_word(self):
        return self.phrase.encode() in self.seen

    def reset(self):
        self.seen = b""


class OldHotword:
    def __init__(self, key_phrase="hey", config=None, lang="en-us"):
        pass

    def found_wake_word(self, frame_data):
        return frame_data == b"hey"


class OldSolver:
    """The oldest shape of a solver."""

    def __init__(self, config=None):
        pass

    def get_spoken_answer(self, query, context=None):
        return None if query == "silence" else f"old: {query} in {context['lang']}"


class Solver:
    def __init__(self, config=None, translator=None, detector=None, priority=50):
        pass

    def get_spoken_answer(self, query, lang=None, units=None):
        return "" if query == "silence" else f"{query} in {lang}, {units}"


class Chat:
    def __init__(self, config=None):
        pass

    def get_response(self, utterance, session_id="default", lang=None, units=None):
        return "" if utterance == "silence" else f"chat: {utterance} in {lang}"


class Books:
    def __init__(self, config=None):
        pass

    def query(self, query, lang=None, k=10):
        return [] if query == "silence" else [(f"{number}. {query}", 1 / number) for number in range(1, k + 1)]


class _Number:
    """What pydantic models have that toolboxes are described by."""

    def __init__(self, number):
        self.number = number

    @staticmethod
    def model_json_schema():
        return {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}

    def model_dump(self, mode):
        return {"number": self.number}


class _Double:
    name = "double"
    description = "Doubles a number."
    argument_schema = output_schema = _Number


class Tools:
    def __init__(self, toolbox_id, config=None, bus=None):
        assert bus is None

    def discover_tools(self):
        return [_Double()]

    def call_tool(self, name, arguments):
        return _Number(2 * arguments["number"])


class ToEnglish:
    """Translates as ovos-bidirectional-translation-plugin does: the language is in the session that it returns."""

    def __init__(self, name="to-english", priority=5, config=None):
        pass

    def transform(self, utterances, context=None):
        return ["hello there"], {**context, "session": {**context["session"], "lang": "en-US"}}
