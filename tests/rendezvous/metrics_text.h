// A strict reader of the text format of Prometheus, as far as a node uses it. Every line that breaks a rule fails the
// test: each metric has one HELP and one TYPE before its samples, no sample is there twice, and the buckets of a
// histogram do not decrease and end with +Inf, which equals the count.
#pragma once

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::rendezvous {

class MetricsText {
 public:
  explicit MetricsText(const std::string& text) {
    EXPECT_TRUE(text.ends_with('\n'));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) Take(line);
    for (const auto& [name, type] : types_) {
      if (type == "histogram") CheckHistogram(name);
    }
  }

  double Value(const std::string& sample) const {
    const auto found = samples_.find(sample);
    EXPECT_NE(found, samples_.end()) << sample;
    return found == samples_.end() ? -1 : found->second;
  }

 private:
  void Take(const std::string& line) {
    static const std::regex kHelp("# HELP ([a-z_]+) .+"), kType("# TYPE ([a-z_]+) (counter|gauge|histogram)");
    static const std::regex kSample(R"re((([a-z_]+)(\{[a-z]+="[^"\\]*"\})?) ([0-9.e+-]+))re");
    std::smatch parts;
    if (std::regex_match(line, parts, kHelp)) {
      EXPECT_TRUE(helps_.insert(parts[1]).second) << line;
    } else if (std::regex_match(line, parts, kType)) {
      EXPECT_TRUE(helps_.contains(parts[1])) << line;
      EXPECT_TRUE(types_.emplace(parts[1], parts[2]).second) << line;
      if (parts[2] == "counter") EXPECT_TRUE(parts[1].str().ends_with("_total")) << line;
      current_ = parts[1];
    } else if (std::regex_match(line, parts, kSample)) {
      const std::string name = parts[2];
      const bool is_histogram = types_[current_] == "histogram";
      EXPECT_TRUE(name == current_ || (is_histogram && name.starts_with(current_ + "_"))) << line;
      EXPECT_TRUE(samples_.emplace(parts[1], std::stod(parts[4])).second) << line;
      if (name.ends_with("_bucket")) buckets_[current_].push_back(std::stod(parts[4]));
    } else {
      ADD_FAILURE() << "not a line of the format: " << line;
    }
  }

  void CheckHistogram(const std::string& name) {
    const auto& buckets = buckets_[name];
    EXPECT_TRUE(std::ranges::is_sorted(buckets)) << name;
    EXPECT_EQ(Value(name + "_bucket{le=\"+Inf\"}"), Value(name + "_count"));
    EXPECT_TRUE(samples_.contains(name + "_sum"));
  }

  std::string current_;
  std::set<std::string> helps_;
  std::map<std::string, std::string> types_;
  std::map<std::string, double> samples_;
  std::map<std::string, std::vector<double>> buckets_;
};

}  // namespace holdfast::rendezvous
