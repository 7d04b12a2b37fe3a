// Runs a fuzz target without a fuzzer: on given files, or on its seeds and random changes of them, which are the same
// in each run. For compilers without libFuzzer, and for reproducing a finding.
//
//   fuzz_x FILE...              each file
//   fuzz_x --seeds FOLDER       only writes the seeds there: the first corpus for libFuzzer
//   fuzz_x [--mutations N]      the seeds and N changes of them; fails if the core refuses all of them
//   fuzz_x --endless SEED       the seeds and changes of them by other random numbers, until it is stopped
//
// PFGEN_FUZZ_SAVE names a file for the latest input. After a crash, the file contains the input that caused it.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "makers/check.hpp"
#include "makers/random.hpp"
#include "target.hpp"

namespace {

using pfgen::fuzz::Input;
using pfgen::test::Random;

constexpr std::size_t kMaxBytes = 1 << 16;
constexpr std::size_t kReportEvery = 100'000;
constexpr std::uint32_t kSeed = 51;

void run(const Input& input) { LLVMFuzzerTestOneInput(input.data(), input.size()); }

// Bits, bytes, numbers and pieces changed, moved or dropped.
void change(Input& input, const Input& other, Random& random) {
  if (input.empty()) input.push_back(0);
  const std::size_t at = random.below(input.size());
  const std::size_t n = std::min(input.size() - at, random.between(1, 64));
  const auto begin = input.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random.below(8)) {
    case 0:
      input[at] ^= static_cast<std::uint8_t>(1U << random.below(8));
      break;
    case 1:
      input[at] = static_cast<std::uint8_t>(random.below(256));
      break;
    case 2:
    case 3: {  // a number that programs trip over, or one near the number that is there
      constexpr std::uint32_t kNumbers[] = {0, 1, 2, 0x7F, 0xFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
      const std::size_t place = at / 4 * 4;
      std::uint32_t number = 0;
      if (place + sizeof number > input.size()) break;
      std::memcpy(&number, &input[place], sizeof number);
      number = random.one_in(2) ? kNumbers[random.below(std::size(kNumbers))]
                                : number + static_cast<std::uint32_t>(random.below(9)) - 4;
      std::memcpy(&input[place], &number, sizeof number);
      break;
    }
    case 4:
      input.erase(begin, begin + static_cast<std::ptrdiff_t>(n));
      break;
    case 5:
    case 6: {
      const Input piece(begin, begin + static_cast<std::ptrdiff_t>(n));
      const auto to = input.begin() + static_cast<std::ptrdiff_t>(random.below(input.size() - n + 1));
      random.one_in(2) ? input.insert(to, piece.begin(), piece.end()) : std::ranges::copy(piece, to).out;
      break;
    }
    default:
      for (std::size_t i = at; i < std::min(at + n, other.size()); ++i) input[i] = other[i];
  }
  if (input.size() > kMaxBytes) input.resize(kMaxBytes);
}

void write(const Input& input, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
}

void print_counts(std::size_t n_mutations) {
  std::printf("%zu changes: %zu inputs got inside, %zu were refused\n", n_mutations, pfgen::fuzz::n_inside,
              pfgen::fuzz::n_refused);
  std::fflush(stdout);
}

void run_mutations(std::uint32_t random_seed, std::size_t n_mutations) {
  Random random(random_seed);
  const std::vector<Input> seeds = pfgen::fuzz::seeds();
  for (const Input& seed : seeds) run(seed);
  for (std::size_t i = 0; i < n_mutations; ++i) {
    Input input = seeds[random.below(seeds.size())];
    for (std::size_t n = random.between(1, 6); n > 0; --n) change(input, seeds[random.below(seeds.size())], random);
    if (const char* path = std::getenv("PFGEN_FUZZ_SAVE")) write(input, path);
    run(input);
    if ((i + 1) % kReportEvery == 0) print_counts(i + 1);
  }
  print_counts(n_mutations);
  pfgen::fuzz::require(pfgen::fuzz::n_inside > 0, "the core has refused every input");
}

}  // namespace

int main(int n_arguments, char** arguments) {
  if (n_arguments == 1) {
    run_mutations(kSeed, 1000);
  } else if (n_arguments == 3 && std::string(arguments[1]) == "--mutations") {
    run_mutations(kSeed, std::stoul(arguments[2]));
  } else if (n_arguments == 3 && std::string(arguments[1]) == "--endless") {
    run_mutations(static_cast<std::uint32_t>(std::stoul(arguments[2])), std::numeric_limits<std::size_t>::max());
  } else if (n_arguments == 3 && std::string(arguments[1]) == "--seeds") {
    const std::vector<Input> seeds = pfgen::fuzz::seeds();
    for (std::size_t i = 0; i < seeds.size(); ++i)
      write(seeds[i], std::string(arguments[2]) + "/seed" + std::to_string(i));
  } else {
    for (int i = 1; i < n_arguments; ++i) {
      std::ifstream file(arguments[i], std::ios::binary);
      if (!file) {
        std::fprintf(stderr, "%s: cannot be read\n", arguments[i]);
        return 2;
      }
      run(Input(std::istreambuf_iterator<char>(file), {}));
    }
  }
  return 0;
}
