"""Requests to a judge: keys never change, and records contain what was asked."""

from __future__ import annotations

from pfgen_fast.lab.judging.judge_requests import Judge


def test_keys_are_those_of_existing_files():
    request = Judge("org/judge", 1.0, 300).request("Is 水 wet? {answer}", seed=818176819, name="rating 1")
    assert request.key == "c3f8310bc3b9d38e1b7cf56d6efd901708c765921038315e00850362e0b4775b"


def test_everything_that_decides_a_reply_is_part_of_the_key():
    judge = Judge("j")
    usual = judge.request("text", seed=1, name="n")
    others = [
        judge.request("texts", seed=1, name="n"),
        judge.request("text", seed=2, name="n"),
        judge.request("text", seed=1, name="n", system="Be strict."),
        Judge("k").request("text", seed=1, name="n"),
        Judge("j", temperature=0.5).request("text", seed=1, name="n"),
        Judge("j", max_tokens=7).request("text", seed=1, name="n"),
    ]
    assert len({request.key for request in [usual, *others]}) == 7
    assert judge.request("text", seed=1, name="another name").key == usual.key
    assert Judge("j", temperature=0).request("text", seed=1, name="n").key == usual.key  # which is 0.0 by default


def test_the_record_is_the_request_in_which_a_lone_surrogate_is_an_escape():
    record = Judge("org/judge", 0.5, 7).request("a\ud800b", seed=3, name="n", system="Be strict.").record()
    assert record == {
        "model": "org/judge",
        "messages": [{"role": "system", "content": "Be strict."}, {"role": "user", "content": "a\\ud800b"}],
        "parameters": {"temperature": 0.5, "max_tokens": 7, "seed": 3},
    }
