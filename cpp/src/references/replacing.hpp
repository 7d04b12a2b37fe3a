// str.replace() of Python.
#pragma once

#include <string>
#include <string_view>

namespace pfgen {

// Replaces each `from`, which is not empty, from left to right.
inline void replace_all(std::u32string& text, std::u32string_view from, std::u32string_view to) {
  std::size_t at = text.find(from);
  if (at == std::u32string::npos) return;
  std::u32string replaced;
  std::size_t begin = 0;
  for (; at != std::u32string::npos; at = text.find(from, begin)) {
    replaced.append(text, begin, at - begin).append(to);
    begin = at + from.size();
  }
  text = replaced.append(text, begin);
}

}  // namespace pfgen
