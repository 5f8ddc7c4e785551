#include "loop/endings.h"

#include <algorithm>
#include <utility>

namespace holdfast::loop {

void Endings::Add(std::string group, Callback done) { endings_.push_back({std::move(group), std::move(done)}); }

bool Endings::Contains(const std::string& group) const {
  return std::ranges::find(endings_, group, &Ending::group) != endings_.end();
}

void Endings::Answer(const std::function<bool(const std::string& group)>& is_alive) {
  std::vector<Callback> done;
  std::erase_if(endings_, [&](Ending& ending) {
    if (is_alive(ending.group)) return false;
    done.push_back(std::move(ending.done));
    return true;
  });
  for (Callback& callback : done) callback();
}

}  // namespace holdfast::loop
