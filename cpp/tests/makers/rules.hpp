// Sections 2, 3 and 7 of docs/scoring.md, written literally and without the code of the core, except for its types;
// and random cases for all branches of the rules.
#pragma once

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "makers/random.hpp"
#include "makers/texts.hpp"
#include "pfgen/constants.hpp"

namespace pfgen::test {

// Document frequency in each of up to five sets, of every n-gram of orders 1..10. Borrows from the texts it counts.
using DocumentCounts = std::unordered_map<TextRef, std::array<std::uint32_t, 5>>;

inline DocumentCounts count_documents(const Sets& sets) {
  DocumentCounts table;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (const Text& answer : sets[s]) {
      std::unordered_set<TextRef> ngrams;
      for (std::size_t i = 0; i < answer.size(); ++i) {
        for (std::size_t order = 1; order <= 10 && i + order <= answer.size(); ++order) {
          ngrams.insert(TextRef(answer).substr(i, order));
        }
      }
      for (const TextRef ngram : ngrams) ++table[ngram][s];
    }
  }
  return table;
}

// Sections 2, 3 and 7.
class Rules {
 public:
  Rules(const Sets& sets, Profile profile, const Lengths& lengths = {})
      : is_paper_(profile == Profile::kPaper), target_(lengths.target), limit_(lengths.limit), marked_sets_(sets) {
    for (auto& set : marked_sets_) {
      for (Text& answer : set) answer = is_paper_ ? marked(answer) : answer;
    }
    table_ = count_documents(marked_sets_);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      n_answers_.push_back(static_cast<double>(sets[s].size()));
      baselines_.push_back(1.0);
      double total = 0.0;
      for (const Text& answer : sets[s]) total += fluency(s, answer);
      baselines_[s] = total / n_answers_[s];
    }
  }
  Rules(Rules&&) = default;  // a copy would borrow from the original
  double baseline(std::size_t set) const { return baselines_[set]; }

  double fluency(std::size_t set, const Text& answer) const {
    if (answer.empty()) return 0.0;
    const Text text = is_paper_ ? marked(answer) : answer.substr(0, n_read());
    std::unordered_set<TextRef> seen;
    double raw = 0.0;
    double best = 0.0;
    for (std::size_t n = 1; n <= text.size(); ++n) {
      for (std::size_t order = 1; order <= std::min<std::size_t>(n, 10); ++order) {
        const TextRef ngram = TextRef(text).substr(n - order, order);
        if (is_paper_ || seen.insert(ngram).second) raw += frequency(set, ngram);
      }
      best = std::max(best, raw * discount(n) / baselines_[set]);
    }
    const double left = std::max(0.0, discount(answer.size()));
    return is_paper_ ? raw / n_answers_[set] * left / baselines_[set] : best;
  }

  double truthfulness(std::size_t set, const Text& answer) const {
    const Text text = is_paper_ ? marked(answer) : (U"^" + answer + U"$").substr(0, n_read() + 2);
    const TextRef skipped = TextRef(U"、。・「」『』（）【】［］〈〉《》^$").substr(0, is_paper_ ? 17 : 19);
    double total = 0.0;
    double count = 0.0;
    double score = 0.0;
    double best = 0.0;
    for (std::size_t j = is_paper_ ? 1 : 0; j < text.size() - (is_paper_ ? 1 : 0); ++j) {
      const bool counts = skipped.find(text[j]) == TextRef::npos;
      if (counts) {
        total += std::min(1.0, cover(set, text, j) / n_answers_[set] * 200.0);
        count += 1.0;
      } else if (!is_paper_) {
        continue;
      }
      score = count > 0.0 ? total / count * discount(j) : 0.0;
      if (j >= target_) best = std::max(best, score);
    }
    return is_paper_ && answer.size() > target_ ? best : std::max(best, score);
  }

 private:
  // The marks are not code points, and differ from the core's numbers for them.
  static Text marked(const Text& answer) { return Text(1, 0x200000) + answer + Text(1, 0x200001); }

  std::size_t n_read() const { return 2 * limit_ - target_; }
  double discount(std::size_t n) const {
    return 1.0 - std::max(static_cast<double>(n) - static_cast<double>(target_), 0.0) /
                     (static_cast<double>(limit_) - static_cast<double>(target_));
  }
  double frequency(std::size_t set, TextRef ngram) const {
    const auto entry = table_.find(ngram);
    return entry == table_.end() ? 0.0 : entry->second[set];
  }
  double cover(std::size_t set, const Text& text, std::size_t j) const {
    double most = 0.0;
    for (std::size_t i = j < 2 ? 0 : j - 2; i <= j && i + 3 <= text.size(); ++i) {
      most = std::max(most, frequency(set, TextRef(text).substr(i, 3)));
    }
    return most;
  }

  bool is_paper_;
  std::size_t target_, limit_;
  Sets marked_sets_;
  DocumentCounts table_;
  std::vector<double> n_answers_;
  std::vector<double> baselines_;
};

// ---- Cases for all branches of the rules ----

inline constexpr TextRef kAlphabet = U"あいうえおかきくけこabc、。「」・（］》^$";
inline constexpr TextRef kSkipped = U"、。・「」『』（）【】［］〈〉《》^$";
inline const std::vector<std::size_t> kLengths{0,   1,   2,   3,   50,  98,  99,  100, 101, 148,
                                               149, 150, 151, 152, 199, 200, 201, 202, 203, 300};

inline Sets random_sets(Random& random, std::size_t n_sets, bool is_large) {
  Sets sets(n_sets);
  for (auto& set : sets) {
    set.push_back(random.text(kAlphabet, 40));
    // Shares of 0.5 % need more than 200 answers to tell frequencies apart.
    for (std::size_t n = is_large ? random.between(250, 450) : random.between(1, 8); n > 1; --n) {
      const std::size_t length = is_large ? random.between(0, 12) : random.pick(kLengths);
      set.push_back(random.one_in(3) ? random.text(kAlphabet, length) : random.splice(set, kAlphabet, length));
    }
  }
  return sets;
}

inline Text random_answer(Random& random, const std::vector<Text>& references, std::size_t length) {
  Text text = random.splice(references, kAlphabet, length);
  const auto fill = [&](std::size_t from) {
    for (std::size_t i = from; i < length; ++i) text[i] = random.pick(kSkipped);
  };
  switch (random.below(6)) {
    case 0:
      return random.text(U"あいう漢字。", length);
    case 1:  // no counted character after one of these positions
      fill(random.pick(std::vector<std::size_t>{0, 1, 50, 98, 99, 100, 149}));
      return text;
    case 2: {  // ... except for one far behind
      fill(random.pick(std::vector<std::size_t>{0, 60, 98, 99}));
      const std::size_t at = random.pick(std::vector<std::size_t>{98, 99, 149, 150, 151, 199, 200, 201, 202});
      if (at < length) text[at] = U'あ';
      return text;
    }
    case 3: {  // nothing to score up to there
      const std::size_t n = random.pick(std::vector<std::size_t>{98, 99, 147, 148, 149});
      return (Text(n, U'】') + random.splice(references, kAlphabet, length)).substr(0, length);
    }
    default:
      return text;
  }
}

}  // namespace pfgen::test
