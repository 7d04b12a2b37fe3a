import pytest
from pfgen_fast import JudgingError
from pfgen_fast.lab.judging.judge_requests import Template

NAMES = ("question", "sample", "answer", "language")


def test_braces_in_values_are_no_placeholders():
    template = Template("{question}|{sample}|{answer}|{language}|{other}", NAMES)
    filled = template.fill(question="{answer}", sample="{0}", answer="\\1 {sample}", language="ja")
    assert filled == "{answer}|{0}|\\1 {sample}|ja|{other}"


def test_a_template_is_read_as_it_is(tmp_path):
    path = tmp_path / "prompt.txt"
    path.write_bytes(b'\xef\xbb\xbf{question}\r\n{answer} {"rating": 3}')
    template = Template.read(path, placeholders=NAMES, needed=("question", "answer"))
    assert template == Template('{question}\r\n{answer} {"rating": 3}', NAMES)
    assert template.uses("answer")
    assert not template.uses("sample")
    assert Template("a", ("b",)).hash == Template("a", ()).hash != Template("a ", ("b",)).hash


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{question} {answer} {smaple}", r"unknown placeholder \{smaple\}; there are \{question\}, \{sample\}"),
        (b"{question}", r"expected the placeholder \{answer\} in the template"),
        (b"{question} \xff", "not UTF-8 \\(byte 11\\)"),
        (b"x" * (1 << 20) + b"x", "holds more than 1 MiB"),
        (None, "cannot be read: No such file"),
    ],
)
def test_an_invalid_template_is_refused(tmp_path, content, message):
    path = tmp_path / "prompt.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(JudgingError, match=message) as caught:
        Template.read(path, placeholders=NAMES, needed=("question", "answer"))
    assert str(caught.value).startswith(f"{path}: ")
