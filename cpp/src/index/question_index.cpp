#include "pfgen/question_index.hpp"

#include <utility>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "index/checksum.hpp"
#include "index/references.hpp"
#include "index/section_builder.hpp"
#include "pfgen/error.hpp"
#include "system/parallel.hpp"

namespace pfgen {

QuestionIndex::QuestionIndex(std::unique_ptr<const References> references)
    : profile_(references->profile()), section_(references->section()), opened_(references.release()) {}

QuestionIndex::QuestionIndex(Section section, std::uint64_t checksum, std::string name, Profile profile, bool is_own)
    : profile_(profile), section_(std::move(section)), checksum_(checksum), name_(std::move(name)), is_own_(is_own) {}

QuestionIndex::~QuestionIndex() { delete opened_.load(std::memory_order_acquire); }

const References& QuestionIndex::references() const {
  if (const References* opened = opened_.load(std::memory_order_acquire)) return *opened;
  std::unique_ptr<const References> own;
  try {
    own = std::make_unique<const References>(section_, profile_, checksum_, is_own_);
  } catch (const IndexFormatError& error) {
    const bool is_damaged = checksum(section_.bytes) != checksum_;
    throw IndexFormatError(name_ +
                           (is_damaged ? " is damaged: its checksum differs" : std::string(": ") + error.what()));
  }
  const References* first = nullptr;
  return opened_.compare_exchange_strong(first, own.get(), std::memory_order_acq_rel) ? *own.release() : *first;
}

std::size_t QuestionIndex::n_states() const { return references().n_states(); }

std::vector<double> QuestionIndex::baselines() const {
  const References& opened = references();
  std::vector<double> baselines(opened.n_sets());
  for (std::size_t set = 0; set < baselines.size(); ++set) baselines[set] = opened.baseline(set);
  return baselines;
}

std::vector<std::shared_ptr<const QuestionIndex>> compile(std::span<const ReferenceSets> questions, Profile profile,
                                                          std::size_t n_threads, std::span<const Lengths> lengths) {
  std::vector<std::shared_ptr<const QuestionIndex>> compiled(questions.size());
  run_parallel(questions.size(), n_threads, {}, [&] {
    return [&, builder = SectionBuilder()](std::size_t i) mutable {
      const Lengths of_question = lengths.empty() ? Lengths() : lengths[i];
      compiled[i] = std::make_shared<const QuestionIndex>(
          std::make_unique<const References>(questions[i], profile, of_question, builder));
    };
  });
#if defined(__GLIBC__)
  malloc_trim(0);  // building takes some ten megabytes a thread, which the allocator would keep
#endif
  return compiled;
}

}  // namespace pfgen
