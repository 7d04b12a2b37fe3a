// Reads string columns of the Arrow C data interface: `string`, `large_string`, `string_view`, dictionary-encoded ones
// of these, and a table of one such column; sliced, with nulls. Nothing is copied but the views.
#pragma once

#include <vector>

#include "pfgen/arrow_abi.hpp"
#include "pfgen/text.hpp"

namespace pfgen {

// Appends the rows of an array to `texts`; they are views of its buffers. Throws ArrowError for whatever a consumer can
// see to be wrong: the interface has no sizes of buffers, other than those of string views.
void read_arrow(const ArrowSchema& schema, const ArrowArray& array, std::vector<TextView>& texts);

}  // namespace pfgen
