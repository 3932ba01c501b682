#include "kernels/team.h"

namespace dragoman::kernels {
namespace {

base::WorkerPool*& current_team() {
  thread_local base::WorkerPool* team = nullptr;
  return team;
}

}  // namespace

TeamScope::TeamScope(base::WorkerPool* team) : previous_(current_team()) {
  current_team() = team != nullptr && team->size() > 1 ? team : nullptr;
}

TeamScope::~TeamScope() {
  current_team() = previous_;
}

base::WorkerPool* TeamScope::current() {
  return current_team();
}

}  // namespace dragoman::kernels
