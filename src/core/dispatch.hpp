// The engine built for the newest instruction set that this processor runs.
#pragma once

#include <string>
#include <vector>

#include "plan.hpp"

namespace torchalu {

// The engines that this processor can run, the newest last.
std::vector<const Engine *> available_engines();

// The one in use: the newest, unless `select_engine` or TORCHALU_ISA in the environment named
// another. Throws std::invalid_argument, with the names allowed, for any other name.
const Engine &current_engine();
void select_engine(const std::string &name);

}  // namespace torchalu
