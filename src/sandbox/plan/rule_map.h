// A rule map holds the rules of a resolution under the paths that they lead to when all links are followed. The planner
// asks it what a command may do at a path. Where several rules lead to one path, deny wins over write, and write over
// read.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/resolve/made_links.h"
#include "sandbox/resolve/path_walk.h"
#include "sandbox/resolve/resolution.h"

namespace holdfast::sandbox {

struct PlacedRule {
  Rule rule;      // as it is in the resolution
  PathWalk walk;  // of the rule's path
};

// The way in which a command sees a directory under the rules.
enum class Exposure {
  kHidden,
  kReadOnly,
  kWritable,
  kPrivate,  // the sandbox has its own: /dev and /proc
};

// Orders paths by their number of components, so that a directory comes before everything in it.
struct ShallowFirst {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};

class RuleMap {
 public:
  using Rules = std::map<std::string, PlacedRule, ShallowFirst>;

  // Fails for a rule whose path crosses a link in a writable directory: the command could change the link, and so lead
  // the rule for the next command elsewhere. Links that the resolution keeps are pinned instead. Where / is writable,
  // and a protected name in / is a link, a write rule for this name is left out. The matches of patterns are denied at
  // the paths that they lead to, whatever links they cross. Also fails for a write rule whose path crosses a link that
  // is among `made`.
  static Result<RuleMap> Create(const Resolution& resolution, const MadeLinks& made = {});

  // Makes the git directories of nested repositories read-only, and notes the links among their `.git`. Paths that are
  // not as they were found, and those that have a rule, are left out: nothing in a repository can stop a start.
  Result<> AddNestedGit(const NestedGit& git);

  // Returns the nearest rule at or above a path without links; null when there is none.
  const PlacedRule* RuleAbout(std::string_view path) const;

  // `directory` must exist, and its path must have no links.
  Exposure ExposureOf(std::string_view directory) const;

  // Returns the exposure of the directory that a path is in. /dev and /proc themselves count as private.
  Exposure ExposureAround(std::string_view path) const;

  // The keys are the paths that the rules lead to. Rules without an effect are left out.
  const Rules& rules() const { return rules_; }

  // Links in hidden directories that paths of readable or writable files cross.
  const std::vector<CrossedLink>& hidden_links() const { return hidden_links_; }

  // Links, and directories, in writable directories that must not be replaced.
  const std::vector<std::string>& pinned_links() const { return pinned_links_; }
  const std::vector<std::string>& pinned_directories() const { return pinned_directories_; }

 private:
  struct LinkOfRule {
    CrossedLink link;
    Rule rule;
  };

  Result<> CheckPlace(const Rule& rule, const Resolution& resolution);
  bool GoesByKeptLink(const Rule& rule, const KeptWays& kept);
  Result<> AddRule(const Rule& rule);
  Result<> AddMatch(const std::string& path);
  Result<> AddMinimalRoot(std::string_view path);
  Result<> AddKept(const KeptWays& kept);
  void Place(const Rule& rule, PathWalk walk);
  Result<> CheckLinks(const MadeLinks& made) const;
  Result<> SortLinks();
  Rules::const_iterator RuleFor(std::string_view path) const;

  PathWalker walker_;
  Rules rules_;
  std::vector<LinkOfRule> links_;
  std::vector<CrossedLink> hidden_links_;
  std::vector<std::string> pinned_links_;
  std::vector<std::string> pinned_directories_;
};

}  // namespace holdfast::sandbox
