// Vocabularies, and LCS against the table that defines them; Python tests compare the rest with the libraries.
#include "references/answer_match.hpp"
#include "references/rouge.hpp"

#include <string>

#include "makers/check.hpp"
#include "makers/random.hpp"

namespace pfgen::test {
}
