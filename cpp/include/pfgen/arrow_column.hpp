// Reads string columns of the Arrow C data interface: `string`, `large_string`, `string_view`, dictionary-encoded ones
// of these, lists of these, and a table of one such column; sliced, with nulls. Nothing is copied but the views.
#pragma once

#include <cstdint>
#include <vector>

#include "pfgen/text.hpp"

// The structs of the interface, which fixes names, order and types of their members; see
// https://arrow.apache.org/docs/format/CDataInterface.html.
extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

inline constexpr std::int64_t kArrowFlagNullable = 2;

namespace pfgen {

// Appends the rows of an array to `texts`; they are views of its buffers. Throws ArrowError for every fault that a
// consumer can see; the interface has sizes of buffers only for string views.
void read_arrow(const ArrowSchema& schema, const ArrowArray& array, std::vector<TextView>& texts);

// A column of lists of texts.
struct TextLists {
  std::vector<TextView> texts;              // of all lists; null where the list is null
  std::vector<std::uint64_t> begins = {0};  // of each list in `texts`, then the end of the last one
  std::vector<bool> is_null;                // by row
};

// Appends the rows of an array of the type `list` or `large_list`, or of a table of one such column. Throws like
// read_arrow.
void read_arrow_lists(const ArrowSchema& schema, const ArrowArray& array, TextLists& lists);

}  // namespace pfgen
