// The rules of a resolution by where their paths lead, links followed: what the planner asks about places. Of rules
// that lead to one place, deny counts before write before read.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/resolve/path_walk.h"
#include "sandbox/resolve/resolution.h"

namespace holdfast::sandbox {

struct PlacedRule {
  Rule rule;  // as it was given
  PathWalk walk;
};

// What the rules make of a place.
enum class Ground {
  kHidden,
  kReadOnly,
  kWritable,
  kPrivate,  // the sandbox's own /dev and /proc
};

struct ShallowFirst {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};

class RuleMap {
 public:
  using Rules = std::map<std::string, PlacedRule, ShallowFirst>;

  // Fails for a rule whose path crosses a link in a writable place: the command could lead the rule of the next command
  // elsewhere. A rule that opens a protected name in / under a rule that opens / is left out where the name is a link.
  // What a pattern matched is denied where it is, however many links lead there.
  static Result<RuleMap> Create(const Resolution& resolution);

  // The nearest rule at or above a path, which is named without links; null when there is none.
  const PlacedRule* RuleAbout(std::string_view path) const;

  // Of a directory that is there, named without links.
  Ground GroundOf(std::string_view directory) const;

  // Of what a path lies in.
  Ground GroundAround(std::string_view path) const;

  // By where they lead. Those that mean nothing are left out.
  const Rules& rules() const { return rules_; }

  // On the way to what may be read, in places that are hidden.
  const std::vector<CrossedLink>& hidden_links() const { return hidden_links_; }

 private:
  struct LinkOfRule {
    CrossedLink link;
    Rule rule;
  };

  Result<> AddRule(const Rule& rule);
  Result<> AddMatch(const std::string& path);
  Result<> AddMinimalRoot(std::string_view path);
  void Place(const Rule& rule, PathWalk walk);
  Result<> SortLinks();
  Rules::const_iterator RuleFor(std::string_view path) const;

  PathWalker walker_;
  Rules rules_;
  std::vector<LinkOfRule> links_;
  std::vector<CrossedLink> hidden_links_;
};

}  // namespace holdfast::sandbox
