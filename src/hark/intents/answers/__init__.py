"""Understanding the answer to a question: yes or no, or one of several."""

from hark.intents.answers.choice import choose
from hark.intents.answers.yes_no import yes_or_no

__all__ = ["choose", "yes_or_no"]
