// A damaged text while it is written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace pfgen {

class DamagedText {
 public:
  void clear() noexcept { begin_ = size_ = 0; }
  // Throws std::length_error if the text would become too long.
  void reserve(std::size_t n) {
    if (n > buffer_.size()) grow(n);
  }
  void append(char32_t c) {
    reserve(size_ + 1);
    buffer_[size_++] = c;
  }
  void append(std::u32string_view text) {
    reserve(size_ + text.size());
    std::copy(text.begin(), text.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += text.size();
  }

  std::u32string_view view() const noexcept { return {buffer_.data() + begin_, size_ - begin_}; }
  // Whether no character is anything but white space.
  bool is_blank() const;
  // Takes the white space at both ends away.
  void strip();

 private:
  void grow(std::size_t n);

  std::vector<char32_t> buffer_;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;  // from the beginning of the buffer
};

}  // namespace pfgen
