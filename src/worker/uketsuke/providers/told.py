"""What a provider tells beside its answer: names and figures, none of which our work depends on.

They are kept in rows, summed up over a month and shown, so what cannot be true or be shown is
unknown, and never a fault: the answer itself may be sound.
"""

from __future__ import annotations

import re
from typing import Final

# Far more than any call uses. Sums of them stay whole in the database, and in JSON.
_MOST_TOKENS: Final = 1_000_000_000
_LONGEST_NAME: Final = 200
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}")


def told_name(value: object) -> str | None:
    """Read a model's name, or a request's: so much of it as can be shown in one line."""
    if not isinstance(value, str):
        return None
    return "".join(filter(str.isprintable, value[:_LONGEST_NAME])).strip() or None


def told_tokens(value: object) -> int | None:
    """Read a number of tokens."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None


def told_language(value: object) -> str | None:
    """Read a language as a BCP 47 tag; OpenAI's Whisper tells its name in English."""
    if not isinstance(value, str):
        return None
    known = _CODES.get(value.strip().lower(), value.strip())
    return known if _LANGUAGE.fullmatch(known) else None


# The languages that Whisper tells apart, by the names that it has for them
# (https://platform.openai.com/docs/guides/speech-to-text, "Supported languages").
_WHISPERS: Final = """
af:afrikaans sq:albanian am:amharic ar:arabic hy:armenian as:assamese az:azerbaijani ba:bashkir
eu:basque be:belarusian bn:bengali bs:bosnian br:breton bg:bulgarian my:burmese my:myanmar
yue:cantonese ca:catalan zh:chinese zh:mandarin hr:croatian cs:czech da:danish nl:dutch nl:flemish
en:english et:estonian fo:faroese fi:finnish fr:french gl:galician ka:georgian de:german el:greek
gu:gujarati ht:haitian ha:hausa haw:hawaiian he:hebrew hi:hindi hu:hungarian is:icelandic
id:indonesian it:italian ja:japanese jv:javanese kn:kannada kk:kazakh km:khmer ko:korean lo:lao
la:latin lv:latvian ln:lingala lt:lithuanian lb:luxembourgish mk:macedonian mg:malagasy ms:malay
ml:malayalam mt:maltese mi:maori mr:marathi ro:moldavian mn:mongolian ne:nepali no:norwegian
nn:nynorsk oc:occitan ps:pashto fa:persian pl:polish pt:portuguese pa:punjabi ro:romanian
ru:russian sa:sanskrit sr:serbian sn:shona sd:sindhi si:sinhala sk:slovak sl:slovenian so:somali
es:spanish es:castilian su:sundanese sw:swahili sv:swedish tl:tagalog tg:tajik ta:tamil tt:tatar
te:telugu th:thai bo:tibetan tr:turkish tk:turkmen uk:ukrainian ur:urdu uz:uzbek vi:vietnamese
cy:welsh yi:yiddish yo:yoruba
"""
_CODES: Final = {name: code for code, name in (pair.split(":") for pair in _WHISPERS.split())}
