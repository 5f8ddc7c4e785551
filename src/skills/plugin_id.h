// The names of the directories in which plugins are installed: MARKETPLACE/PLUGIN/VERSION.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::skills {

// These functions return whether a directory of this name is looked at. Others may be there for another purpose.
bool IsMarketplace(std::string_view name);
bool IsPlugin(std::string_view name);
bool IsVersion(std::string_view name);

// Returns whether version `a` is used rather than version `b`: `local` before all others, then the higher one. Semantic
// versions are compared as such, and all others as text.
bool IsPreferred(std::string_view a, std::string_view b);

}  // namespace holdfast::skills
