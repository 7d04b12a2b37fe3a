// One error of typing at one character.
#pragma once

#include <string_view>

#include "perturbation/edits.hpp"
#include "system/random.hpp"

namespace pfgen {

// Adds what is typed instead of the character, which may be nothing, to the edit that was begun last.
void add_typing_error(std::u32string_view character, Generator generator, Edits& edits);

}  // namespace pfgen
