#include "references/answer_match.hpp"

#include <algorithm>

namespace pfgen {

double exact_match(Tokens reference, Tokens answer) { return std::ranges::equal(reference, answer) ? 1 : 0; }

double token_f1(Tokens reference, Tokens answer, Rouge& rouge) {
  if (reference.empty() || answer.empty()) return exact_match(reference, answer);
  return shares_of(rouge.n_common(reference, answer), reference.size(), answer.size()).f;
}

}  // namespace pfgen
