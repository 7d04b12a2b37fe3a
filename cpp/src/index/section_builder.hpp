// Builds indexes: the n-grams of the reference sets of one question as the bytes that NgramIndex reads.
#pragma once

#include <memory>
#include <span>

#include "index/alphabet.hpp"
#include "pfgen/constants.hpp"
#include "pfgen/section.hpp"

namespace pfgen {

// Builds indexes one after the other, and keeps the memory that it works in. For one thread.
class SectionBuilder {
 public:
  SectionBuilder();
  SectionBuilder(SectionBuilder&&) noexcept;
  ~SectionBuilder();

  // Indexes the reference sets of one question: the bytes of one index for each four of them, in their order, all with
  // the same form of states, which is wide for other lengths than the usual ones. Throws CompileError if there are more
  // code points, states or n-grams than can be numbered.
  Section build(std::span<const AnswerSet> sets, Profile profile, const Lengths& lengths);

 private:
  struct Builders;
  std::unique_ptr<Builders> builders_;
};

}  // namespace pfgen
