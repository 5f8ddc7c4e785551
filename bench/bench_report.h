// What the benchmarks of the real program print: a row per measured quantity, with a value per round.
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

// "2026-01-31, AMD EPYC, 2 CPUs, Linux 6.1.0, load 0.02": a number means little without it. The load before the first
// round is that of others.
std::string Occasion();

void PrintTable(const Report& report, std::string_view occasion, int rounds);
void PrintJson(const Report& report, std::string_view occasion, int rounds);

}  // namespace holdfast::bench
