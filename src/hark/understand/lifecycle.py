"""One utterance on its way through."""

from __future__ import annotations

from hark.chains import Flow
from hark.model import Message, Session
from hark.model.frozen import EMPTY
from hark.model.intent_context import IntentContext
from hark.model.session_merge import Denials, SessionChanges
from hark.trace import TurnTrace


class Lifecycle:
    """What is known of one utterance at this moment. Only its own turn writes here."""

    __slots__ = (
        "base",
        "denials",
        "dispatch",
        "ended",
        "is_applied",
        "lang",
        "message",
        "pruned",
        "session",
        "synced",
        "trace",
        "utterances",
    )

    def __init__(
        self, message: Message, utterances: tuple[str, ...], session: Session, denials: Denials, trace: TurnTrace
    ) -> None:
        self.message = message
        """The entry Message as the chains have left it so far, its session apart."""
        self.utterances = utterances
        self.session = session
        """The working session."""
        self.denials = denials
        self.trace = trace
        self.lang: str | None = None
        """The language of the utterance, once it is resolved."""
        self.pruned: IntentContext = EMPTY
        """The intent context every matcher of this round sees."""
        self.synced = session
        """The session as it was last brought to the store of the default session."""
        self.base = session
        """The session the handler's changes are counted from: as it was called with, or as it last showed."""
        self.dispatch: Message | None = None
        """The call of the handler, once there is one."""
        self.ended = False
        """Whether the end marker was emitted."""
        self.is_applied = False
        """Whether the default session has what comes of this turn already: then it must not be applied again."""

    @property
    def utterance_id(self) -> str:
        """The id of this lifecycle."""
        return self.trace.utterance_id

    def called(self, dispatch: Message, base: Session) -> None:
        """The handler is about to be called with `base` as its session, or was."""
        self.dispatch = dispatch
        self.base = base

    def wrote(self, session: Session, skill_id: str) -> SessionChanges | None:
        """Take over what the handler changed since it last showed its session, and tell what that is."""
        writes = SessionChanges.between(self.base, session, skill_id)
        self.base = session
        if writes is not None:
            self.session = writes.applied_to(self.session)
        return writes

    def answered(self) -> None:
        """Whoever waited for an answer has it: this turn's session must not ask for it again."""
        self.session = self.session.without("response_mode")

    def current(self) -> Message:
        """The entry Message with the working session."""
        return self.message.carrying(self.session)

    def flow(self, artifact: object, lang: str | None) -> Flow:
        """What goes into a chain."""
        return Flow(artifact, lang, self.message, self.session, self.denials)

    def take(self, flow: Flow) -> None:
        """What comes out of a chain: context, session and denylists as its transformers left them."""
        self.message = self.message.within(flow.context, None)
        self.session = flow.session
        self.denials = flow.denials
