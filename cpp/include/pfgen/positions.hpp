// Positions in units, of matches that are found in code points.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pfgen {

class Positions {
 public:
  // The number of units that begin in the first `end` code points.
  virtual std::uint32_t position(std::size_t end) const = 0;

 protected:
  Positions() = default;
  Positions(const Positions&) = default;
  Positions(Positions&&) = default;
  Positions& operator=(const Positions&) = default;
  Positions& operator=(Positions&&) = default;
  ~Positions() = default;
};

}  // namespace pfgen
