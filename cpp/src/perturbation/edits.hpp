// Edits of a text in the order of their places, each of which is made from some degree on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "perturbation/damaged_text.hpp"
#include "perturbation/original.hpp"

namespace pfgen {

class Edits {
 public:
  void clear() noexcept {
    edits_.clear();
    texts_.clear();
  }

  // Begins an edit, which is made if more than `rank` sites are damaged: the code points added next replace the span.
  void begin(Span span, std::uint32_t rank) { edits_.push_back({span, rank, texts_.size(), texts_.size()}); }
  void insert_at(std::size_t at, std::uint32_t rank) {
    begin({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at)}, rank);
  }
  void add(char32_t c) { add(std::u32string_view(&c, 1)); }
  // Throws std::length_error if the text would become too long.
  void add(std::u32string_view text) {
    if (text.size() > kMaxPerturbedCodePoints - texts_.size()) throw std::length_error("a damaged text is too long");
    texts_.append(text);
    edits_.back().text_end += text.size();
  }

  // Writes the text with the first `n_sites` sites damaged.
  void apply(const Original& original, std::size_t n_sites, DamagedText& out) const {
    const std::u32string_view text = original.view();
    const std::u32string_view texts = texts_;
    out.reserve(text.size() + texts.size());
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
      if (edit.rank >= n_sites) continue;
      out.append(text.substr(at, edit.span.begin - at));
      out.append(texts.substr(edit.text_begin, edit.text_end - edit.text_begin));
      at = edit.span.end;
    }
    out.append(text.substr(at));
  }

 private:
  struct Edit {
    Span span;
    std::uint32_t rank;
    std::size_t text_begin;
    std::size_t text_end;
  };
  std::vector<Edit> edits_;
  std::u32string texts_;
};

}  // namespace pfgen
