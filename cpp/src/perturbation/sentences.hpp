// Sentences of a text. Laid end to end they give the text.
#pragma once

#include <vector>

#include "perturbation/original.hpp"

namespace pfgen {

// Replaces `sentences`.
void find_sentences(const Original& text, std::vector<Span>& sentences);

// A piece without the white space at its ends; where it has nothing else, its beginning.
Span stripped(const Original& text, Span span);

}  // namespace pfgen
