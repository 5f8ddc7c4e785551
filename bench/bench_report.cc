#include "bench_report.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench_client.h"

namespace holdfast::bench {

double Percentile(std::vector<double> values, double percent) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(std::lround(percent / 100 * static_cast<double>(values.size() - 1)))];
}

double Median(const std::vector<double>& values) { return Percentile(values, 50); }

void Report::Add(std::string key, std::string_view unit, std::string_view label, double value) {
  auto row = std::ranges::find(rows, key, &Row::key);
  if (row == rows.end()) row = rows.insert(row, Row{std::move(key), unit, label, {}});
  row->values.push_back(value);
}

std::string Occasion() {
  double load = 0;
  Require(::getloadavg(&load, 1) == 1, "getloadavg");
  std::array<char, 16> date;
  const std::time_t now = std::time(nullptr);
  const size_t date_size = std::strftime(date.data(), date.size(), "%F", std::gmtime(&now));
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line) && !line.starts_with("model name")) continue;
  const size_t colon = line.find(": ");
  utsname kernel{};
  (void)::uname(&kernel);  // fails for a bad pointer only
  return fmt::format("{}, {}, {} CPUs, Linux {}, load {:.2f}", std::string_view(date.data(), date_size),
                     colon != line.npos ? line.substr(colon + 2) : "unknown CPU", ::sysconf(_SC_NPROCESSORS_ONLN),
                     kernel.release, load);
}

namespace {

std::string Rounded(double value) { return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0); }

}  // namespace

void PrintTable(const Report& report, std::string_view occasion, int rounds) {
  fmt::print("{}; median of {} rounds\n\n| measured | median | least | most | unit |\n|---|--:|--:|--:|---|\n",
             occasion, rounds);
  for (const Row& row : report.rows) {
    const auto [least, most] = std::ranges::minmax(row.values);
    fmt::print("| {} | {} | {} | {} | {} |\n", row.label, Rounded(Median(row.values)), Rounded(least), Rounded(most),
               row.unit);
  }
}

void PrintJson(const Report& report, std::string_view occasion, int rounds) {
  std::string results;
  for (const Row& row : report.rows) {
    results += fmt::format(R"({}"{}":{{"unit":"{}","median":{:.3f},"rounds":[{:.3f}]}})", results.empty() ? "" : ",",
                           row.key, row.unit, Median(row.values), fmt::join(row.values, ","));
  }
  fmt::print("{{\"occasion\":\"{}\",\"rounds\":{},\"results\":{{{}}}}}\n", occasion, rounds, results);
}

}  // namespace holdfast::bench
