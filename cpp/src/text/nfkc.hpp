// The normalisation form KC by Unicode 13.0.
#pragma once

#include <span>
#include <vector>

namespace pfgen {

// Replaces `out` with the NFKC form of a text. Code points are at most U+10FFFF; unassigned ones are left alone.
void to_nfkc(std::span<const char32_t> text, std::vector<char32_t>& out);

}  // namespace pfgen
