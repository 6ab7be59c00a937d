#include "dispatch.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

namespace torchalu {

namespace baseline {
extern const Engine engine;
}
#if defined(__x86_64__) || defined(_M_X64)
namespace avx2 {
extern const Engine engine;
}
namespace avx512 {
extern const Engine engine;
}
#endif

std::vector<const Engine *> available_engines() {
  std::vector<const Engine *> engines{&baseline::engine};
#if defined(__x86_64__) || defined(_M_X64)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) engines.push_back(&avx2::engine);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    engines.push_back(&avx512::engine);
#endif
  return engines;
}

namespace {

const Engine *find_engine(const std::string &name) {
  std::string known;
  for (const Engine *engine : available_engines()) {
    if (name == engine->name) return engine;
    known += std::string(known.empty() ? "" : ", ") + engine->name;
  }
  throw std::invalid_argument("instruction set '" + name + "' is not one that this processor runs; choose from " + known);
}

std::atomic<const Engine *> &slot() {
  static std::atomic<const Engine *> chosen = [] {
    const char *wanted = std::getenv("TORCHALU_ISA");
    return wanted && *wanted ? find_engine(wanted) : available_engines().back();
  }();
  return chosen;
}

}  // namespace

const Engine &current_engine() { return *slot(); }
void select_engine(const std::string &name) { slot() = find_engine(name); }

}  // namespace torchalu
