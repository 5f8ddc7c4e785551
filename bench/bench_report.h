// The results of the benchmarks of the real program: one row for each measured quantity, with one value for each round.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

double Percentile(std::vector<double> values, double percent);
double Median(const std::vector<double>& values);

struct Row {
  std::string key;
  std::string_view unit;
  std::string_view label;
  std::vector<double> values;  // one per round
};

struct Report {
  std::vector<Row> rows;

  void Add(std::string key, std::string_view unit, std::string_view label, double value);
};

// Returns a description of the machine and the moment, without which the numbers mean little: "2026-01-31, AMD EPYC, 2
// CPUs, Linux 6.1.0, load 0.02". The load is that of other programs, if this is called before the first round.
std::string Occasion();

void PrintTable(const Report& report, std::string_view occasion, int rounds);
void PrintJson(const Report& report, std::string_view occasion, int rounds);

}  // namespace holdfast::bench
