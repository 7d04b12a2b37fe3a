// Scores of short answers by the evaluation script of SQuAD 2.0, from tokens.
#pragma once

#include "references/rouge.hpp"

namespace pfgen {

// The harmonic mean of precision and recall of tokens. If a text has no tokens: 1 if both have none, else 0.
double token_f1(Tokens reference, Tokens answer, Rouge& rouge);

// 1 if the tokens are equal, else 0.
double exact_match(Tokens reference, Tokens answer);

}  // namespace pfgen
