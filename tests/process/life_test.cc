// The life of a command is tested by a table of what each event does in each state, and by rules that hold in every
// sequence of events.
//
// A state is written as six names, one of each field below. A row tells in which states an event has which actions, and
// which names of the state it changes. If no row fits, the event does nothing. A row is added by writing it down: the
// test fails if it contradicts another one, or fits no state that a command can get into.
#include "process/life.h"

#include <algorithm>
#include <array>
#include <functional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace holdfast::process {
namespace {

using Words = std::vector<std::string_view>;

bool Contains(const auto& range, const auto& value) { return std::ranges::find(range, value) != range.end(); }

constexpr int kExitCode = 7, kKilledExitCode = 137;

const std::array<Words, 6> kFields = {{
    {"starting", "started", "failed"},
    {"no-exit", "draining", "awaits-output", "awaits-end", "published"},
    {"unasked", "limited", "terminating", "killing"},
    {"open", "ended"},  // of the output
    {"unclosed", "closed"},
    {"alive", "gone"},
}};

// The arguments that a Life is made with. A row may name these as well.
struct Kind {
  Life::StartedBy started_by;
  Life::LastOutput last_output;
  Words words;
};
const std::array<Kind, 4> kKinds = {{
    {Life::StartedBy::kExecution, Life::LastOutput::kPrecedesExit, {"by-execution", "precedes"}},
    {Life::StartedBy::kExecution, Life::LastOutput::kMayFollow, {"by-execution", "may-follow"}},
    {Life::StartedBy::kReport, Life::LastOutput::kPrecedesExit, {"by-report", "precedes"}},
    {Life::StartedBy::kReport, Life::LastOutput::kMayFollow, {"by-report", "may-follow"}},
}};

struct Event {
  std::string_view name;
  std::function<Actions(Life&)> tell;
};
const std::array<Event, 15> kEvents = {{
    {"executed", &Life::OnExecuted},
    {"execution-failed", &Life::OnExecutionFailed},
    {"start-reported", &Life::OnStartReported},
    {"failure-reported", &Life::OnFailureReported},
    {"exited", [](Life& life) { return life.OnExited(kExitCode); }},
    {"drained", &Life::OnDrained},
    {"last-output-timer", &Life::OnLastOutputTimer},
    {"output", &Life::OnOutput},
    {"output-ended", &Life::OnOutputEnded},
    {"start-limit", &Life::OnStartLimit},
    {"terminate", &Life::OnTerminate},
    {"kill", &Life::OnKill},
    {"grace-timer", &Life::OnGraceTimer},
    {"all-dead", &Life::OnAllDead},
    {"gone", &Life::OnGone},
}};

std::string_view Name(Action action) {
  static constexpr std::array<std::string_view, 19> kNames = {"publish-started",
                                                              "publish-start-failed",
                                                              "publish-start-cancelled",
                                                              "publish-keeper-lost",
                                                              "drain-output",
                                                              "end-output",
                                                              "start-last-output-timer",
                                                              "stop-last-output-timer",
                                                              "publish-exit",
                                                              "publish-closed",
                                                              "close-output",
                                                              "free-streams",
                                                              "signal-term",
                                                              "start-grace-timer",
                                                              "shorten-grace",
                                                              "stop-grace-timer",
                                                              "kill-all",
                                                              "answer-kills",
                                                              "publish-gone"};
  return kNames.at(static_cast<size_t>(action));
}

struct Row {
  std::string_view event, when, actions, then;
};
const Row kTable[] = {
    // The start. A start that is being killed stays unknown until every descendant is dead.
    {"executed", "starting by-execution unasked|terminating", "publish-started", "started"},
    {"executed", "starting by-execution limited", "stop-grace-timer publish-started", "started unasked"},
    {"execution-failed", "starting", "publish-start-failed", "failed"},
    {"start-reported", "starting unasked|terminating", "publish-started", "started"},
    {"start-reported", "starting limited", "stop-grace-timer publish-started", "started unasked"},
    {"failure-reported", "starting unasked|limited|terminating", "publish-start-failed kill-all", "failed"},

    // The exit. It is published after the output that is there, and for some commands after output that may follow.
    {"exited", "started no-exit unasked|terminating", "drain-output", "draining"},
    {"exited", "started no-exit killing", "", "awaits-end"},
    {"drained", "draining open precedes", "publish-exit", "published"},
    {"drained", "draining open may-follow", "start-last-output-timer", "awaits-output"},
    {"drained", "draining ended", "publish-exit publish-closed", "published closed"},
    {"last-output-timer", "awaits-output", "publish-exit", "published"},

    // The output.
    {"output", "awaits-output", "stop-last-output-timer publish-exit", "published"},
    {"output-ended", "awaits-output", "stop-last-output-timer publish-exit publish-closed", "ended published closed"},
    {"output-ended", "open no-exit|draining|awaits-end", "", "ended"},
    {"output-ended", "open published alive", "publish-closed", "ended closed"},
    {"output-ended", "open published gone", "close-output publish-closed", "ended closed"},

    // Requests to end the command.
    {"start-limit", "starting unasked", "start-grace-timer", "limited"},
    {"terminate", "alive unasked", "signal-term start-grace-timer", "terminating"},
    {"terminate", "alive limited|terminating", "signal-term shorten-grace", "terminating"},
    {"terminate", "alive killing", "kill-all", ""},
    {"terminate", "gone", "answer-kills", ""},
    {"kill", "alive no-exit|awaits-end|published unasked|killing", "kill-all", "killing"},
    {"kill", "alive no-exit|awaits-end|published limited|terminating", "stop-grace-timer kill-all", "killing"},
    {"kill", "draining unasked", "kill-all", "awaits-end killing"},
    {"kill", "draining terminating", "stop-grace-timer kill-all", "awaits-end killing"},
    {"kill", "awaits-output unasked", "stop-last-output-timer kill-all", "awaits-end killing"},
    {"kill", "awaits-output terminating", "stop-grace-timer stop-last-output-timer kill-all", "awaits-end killing"},
    {"kill", "gone", "answer-kills", ""},
    {"grace-timer", "no-exit|awaits-end|published limited|terminating", "kill-all", "killing"},
    {"grace-timer", "draining terminating", "kill-all", "awaits-end killing"},
    {"grace-timer", "awaits-output terminating", "stop-last-output-timer kill-all", "awaits-end killing"},

    // The death of the last descendant: what it wrote is read before the exit.
    {"all-dead", "starting|failed limited|terminating", "stop-grace-timer", "unasked"},
    {"all-dead", "started no-exit|draining|awaits-end open unasked", "drain-output", "awaits-end"},
    {"all-dead", "started no-exit|draining|awaits-end open terminating", "stop-grace-timer drain-output",
     "awaits-end unasked"},
    {"all-dead", "started no-exit|awaits-end open killing", "end-output", "awaits-end"},
    {"all-dead", "started no-exit|draining|awaits-end ended unasked|killing", "", "awaits-end"},
    {"all-dead", "started no-exit|draining|awaits-end ended terminating", "stop-grace-timer", "awaits-end unasked"},
    {"all-dead", "awaits-output unasked", "stop-last-output-timer drain-output", "awaits-end"},
    {"all-dead", "awaits-output terminating", "stop-grace-timer stop-last-output-timer drain-output",
     "awaits-end unasked"},
    {"all-dead", "published terminating", "stop-grace-timer", "unasked"},
    {"all-dead", "published open killing alive", "end-output", ""},

    // The end of a command that did not start.
    {"gone", "starting unasked", "answer-kills publish-keeper-lost publish-gone", "failed gone"},
    {"gone", "starting limited|terminating", "stop-grace-timer answer-kills publish-keeper-lost publish-gone",
     "failed unasked gone"},
    {"gone", "starting killing", "answer-kills publish-start-cancelled publish-gone", "failed gone"},
    {"gone", "failed alive unasked|killing", "answer-kills publish-gone", "gone"},
    {"gone", "failed limited|terminating", "stop-grace-timer answer-kills publish-gone", "unasked gone"},
    // The end of a command that has not published its exit.
    {"gone", "started no-exit|draining|awaits-end open unasked|killing", "answer-kills publish-exit publish-gone",
     "published gone"},
    {"gone", "started no-exit|draining|awaits-end open terminating",
     "stop-grace-timer answer-kills publish-exit publish-gone", "published unasked gone"},
    {"gone", "started no-exit|draining|awaits-end ended unasked|killing",
     "answer-kills publish-exit publish-closed free-streams publish-gone", "published closed gone"},
    {"gone", "started no-exit|draining|awaits-end ended terminating",
     "stop-grace-timer answer-kills publish-exit publish-closed free-streams publish-gone",
     "published closed unasked gone"},
    {"gone", "awaits-output unasked", "stop-last-output-timer answer-kills publish-exit publish-gone",
     "published gone"},
    {"gone", "awaits-output terminating",
     "stop-grace-timer stop-last-output-timer answer-kills publish-exit publish-gone", "published unasked gone"},
    // The end of a command that has published its exit.
    {"gone", "published unclosed alive unasked|killing", "answer-kills publish-gone", "gone"},
    {"gone", "published unclosed terminating", "stop-grace-timer answer-kills publish-gone", "unasked gone"},
    {"gone", "closed alive unasked|killing", "answer-kills free-streams publish-gone", "gone"},
    {"gone", "closed terminating", "stop-grace-timer answer-kills free-streams publish-gone", "unasked gone"},
};

Words Split(std::string_view text, char separator) {
  Words words;
  for (const auto word : std::views::split(text, separator)) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

Words StateOf(const Life& life) {
  const std::array<size_t, 6> values = {static_cast<size_t>(life.start()),
                                        static_cast<size_t>(life.exit()),
                                        static_cast<size_t>(life.ending()),
                                        life.output_ended(),
                                        life.closed(),
                                        life.gone()};
  Words words;
  for (size_t i = 0; i < values.size(); ++i) words.push_back(kFields[i].at(values[i]));
  return words;
}

std::string TextOf(const Actions& actions) {
  Words names;
  for (const Action action : actions) names.push_back(Name(action));
  return fmt::format("{}", fmt::join(names, " "));
}

// The History records what the owner has been told, which timers run, and which events the keeper has sent. Nothing is
// counted beyond two, so that a Life that publishes something for ever fails a test and does not occupy it for ever.
struct History {
  int started = 0, failed = 0, exited = 0, closed = 0, gone = 0;
  bool grace_timer = false, last_output_timer = false;
  bool has_exited = false;

  bool operator==(const History&) const = default;
  int told_but_gone() const { return started + failed + exited + closed; }

  void Record(Action action) {
    using enum Action;
    const auto count = [&](int& counter, std::initializer_list<Action> counted) {
      if (Contains(counted, action) && counter < 2) ++counter;
    };
    count(started, {kPublishStarted});
    count(failed, {kPublishStartFailed, kPublishStartCancelled, kPublishKeeperLost});
    count(exited, {kPublishExit});
    count(closed, {kPublishClosed});
    count(gone, {kPublishGone});
    if (action == kStartGraceTimer || action == kStopGraceTimer) grace_timer = action == kStartGraceTimer;
    if (action == kStartLastOutputTimer || action == kStopLastOutputTimer) {
      last_output_timer = action == kStartLastOutputTimer;
    }
  }

  void Record(const Event& event, const Life& before) {
    has_exited |= event.name == "exited" && before.start() == Life::Start::kStarted && !before.exit_code();
    grace_timer &= event.name != "grace-timer";
    last_output_timer &= event.name != "last-output-timer";
  }
};

struct Moment {
  const Kind* kind;
  Life life;
  History history;

  bool operator==(const Moment&) const = default;
};

struct Step {
  Moment before;
  const Event* event;
  Actions actions;
  Moment after;

  bool Has(Action action) const { return Contains(actions, action); }
  std::string Text() const {
    return fmt::format("{} ({}): {} -> {}", fmt::join(StateOf(before.life), " "), fmt::join(before.kind->words, " "),
                       event->name, TextOf(actions));
  }
};

Step Take(const Moment& before, const Event& event) {
  Step step{before, &event, {}, before};
  step.actions = event.tell(step.after.life);
  step.after.history.Record(event, before.life);
  for (const Action action : step.actions) step.after.history.Record(action);
  return step;
}

// Returns every event in every state that some sequence of events leads to.
const std::vector<Step>& AllSteps() {
  static const auto& steps = *new std::vector<Step>([] {
    std::vector<Moment> moments;
    for (const Kind& kind : kKinds) moments.push_back({&kind, Life(kind.started_by, kind.last_output), {}});
    std::vector<Step> found;
    for (size_t i = 0; i < moments.size(); ++i) {
      for (const Event& event : kEvents) {
        found.push_back(Take(moments[i], event));
        if (!Contains(moments, found.back().after)) moments.push_back(found.back().after);
      }
    }
    return found;
  }());
  return steps;
}

bool Fits(const Row& row, const Step& step) {
  if (row.event != step.event->name) return false;
  Words words = StateOf(step.before.life);
  words.insert(words.end(), step.before.kind->words.begin(), step.before.kind->words.end());
  return std::ranges::all_of(Split(row.when, ' '), [&](std::string_view choice) {
    return std::ranges::any_of(Split(choice, '|'), [&](auto word) { return Contains(words, word); });
  });
}

Words Changed(Words state, std::string_view then) {
  for (const std::string_view word : Split(then, ' ')) {
    for (size_t i = 0; i < state.size(); ++i) {
      if (Contains(kFields[i], word)) state[i] = word;
    }
  }
  return state;
}

TEST(LifeTableTest, TellsWhatEveryEventDoesInEveryState) {
  for (const Step& step : AllSteps()) {
    SCOPED_TRACE(step.Text());
    std::vector<Row> rows;
    std::ranges::copy_if(kTable, std::back_inserter(rows), [&](const Row& row) { return Fits(row, step); });
    ASSERT_LE(rows.size(), 1u) << rows[0].when << " and " << rows[1].when;
    const Row row = rows.empty() ? Row{} : rows[0];
    EXPECT_EQ(TextOf(step.actions), row.actions);
    EXPECT_EQ(StateOf(step.after.life), Changed(StateOf(step.before.life), row.then));
  }
}

TEST(LifeTableTest, HasNoRowInVain) {
  for (const Row& row : kTable) {
    const bool fits = std::ranges::any_of(AllSteps(), [&](const Step& step) { return Fits(row, step); });
    EXPECT_TRUE(fits) << row.event << " when " << row.when;
  }
}

TEST(LifeTableTest, UsesNoWordThatMeansNothing) {
  const auto is_known = [](std::string_view word) {
    return std::ranges::any_of(kFields, [&](const Words& field) { return Contains(field, word); }) ||
           std::ranges::any_of(kKinds, [&](const Kind& kind) { return Contains(kind.words, word); });
  };
  for (const Row& row : kTable) {
    for (const std::string_view text : {row.when, row.then}) {
      for (const std::string_view choice : Split(text, ' ')) {
        for (const std::string_view word : Split(choice, '|')) EXPECT_TRUE(is_known(word)) << word;
      }
    }
  }
}

TEST(LifeTest, DecidesAStartOnce) {
  for (const Step& step : AllSteps()) {
    const History& told = step.after.history;
    EXPECT_LE(told.started + told.failed, 1) << step.Text();
    EXPECT_EQ(step.after.life.start() == Life::Start::kStarted, told.started == 1) << step.Text();
    EXPECT_EQ(step.after.life.start() == Life::Start::kFailed, told.failed == 1) << step.Text();
  }
}

TEST(LifeTest, PublishesTheExitOnceAndOnlyOfAStartedCommand) {
  for (const Step& step : AllSteps()) {
    EXPECT_LE(step.after.history.exited, step.after.history.started) << step.Text();
    EXPECT_EQ(step.after.life.exit_code().has_value(), step.after.history.exited == 1) << step.Text();
  }
}

TEST(LifeTest, ClosesOnceWhenTheExitIsPublishedAndAllOutputHasEnded) {
  for (const Step& step : AllSteps()) {
    const bool is_over = step.after.history.exited == 1 && step.after.life.output_ended();
    EXPECT_EQ(step.after.history.closed, is_over ? 1 : 0) << step.Text();
    EXPECT_EQ(step.after.life.closed(), is_over) << step.Text();
    const auto exit = std::ranges::find(step.actions, Action::kPublishExit);
    const auto closed = std::ranges::find(step.actions, Action::kPublishClosed);
    if (exit != step.actions.end() && closed != step.actions.end()) EXPECT_LT(exit, closed) << step.Text();
  }
}

TEST(LifeTest, PublishesNothingButItsEndAfterClosedOrFailed) {
  for (const Step& step : AllSteps()) {
    if (step.before.history.closed + step.before.history.failed == 0) continue;
    EXPECT_EQ(step.after.history.told_but_gone(), step.before.history.told_but_gone()) << step.Text();
  }
}

TEST(LifeTest, LosesNoExit) {
  for (const Step& step : AllSteps()) {
    if (step.after.life.gone()) EXPECT_EQ(step.after.history.exited, step.after.history.started) << step.Text();
    if (!step.Has(Action::kPublishExit)) continue;
    EXPECT_EQ(step.after.life.exit_code(), step.after.history.has_exited ? kExitCode : kKilledExitCode) << step.Text();
  }
}

TEST(LifeTest, AnswersKillsWhenItIsGoneAndNotBefore) {
  for (const Step& step : AllSteps()) {
    const bool ends = step.after.life.gone() && !step.before.life.gone();
    const bool comes_late = step.before.life.gone() && (step.event->name == "kill" || step.event->name == "terminate");
    EXPECT_EQ(step.Has(Action::kAnswerKills), ends || comes_late) << step.Text();
  }
}

TEST(LifeTest, AnswersAKillBeforeItPublishesTheExit) {
  for (const Step& step : AllSteps()) {
    if (step.before.life.ending() != Life::Ending::kKilling || !step.Has(Action::kPublishExit)) continue;
    const auto answer = std::ranges::find(step.actions, Action::kAnswerKills);
    EXPECT_LT(answer, std::ranges::find(step.actions, Action::kPublishExit)) << step.Text();
  }
}

TEST(LifeTest, IsGoneOnceAndLast) {
  for (const Step& step : AllSteps()) {
    EXPECT_EQ(step.after.history.gone, step.after.life.gone() ? 1 : 0) << step.Text();
    if (step.Has(Action::kPublishGone)) EXPECT_EQ(*(step.actions.end() - 1), Action::kPublishGone) << step.Text();
  }
}

TEST(LifeTest, UsesNoKeeperThatIsGone) {
  for (const Step& step : AllSteps()) {
    if (!step.before.life.gone()) continue;
    for (const Action action : {Action::kSignalTerm, Action::kKillAll}) {
      EXPECT_FALSE(step.Has(action)) << step.Text();
    }
  }
}

TEST(LifeTest, KnowsWhichTimersRun) {
  for (const Step& step : AllSteps()) {
    const History& before = step.before.history;
    if (step.Has(Action::kStartGraceTimer)) EXPECT_FALSE(before.grace_timer) << step.Text();
    if (step.Has(Action::kShortenGrace)) EXPECT_TRUE(before.grace_timer) << step.Text();
    if (step.Has(Action::kStopGraceTimer)) EXPECT_TRUE(before.grace_timer) << step.Text();
    if (step.Has(Action::kStopLastOutputTimer)) EXPECT_TRUE(before.last_output_timer) << step.Text();
    const Life& life = step.after.life;
    EXPECT_EQ(step.after.history.last_output_timer, life.exit() == Life::Exit::kAwaitsOutput) << step.Text();
    const bool is_waiting = life.ending() == Life::Ending::kStartLimited || life.ending() == Life::Ending::kTerminating;
    EXPECT_EQ(step.after.history.grace_timer, is_waiting) << step.Text();
    if (life.gone()) EXPECT_FALSE(step.after.history.grace_timer || step.after.history.last_output_timer);
  }
}

TEST(LifeTest, ComesToItsEndFromEveryState) {
  for (const Step& step : AllSteps()) {
    Life life = step.after.life;
    (void)life.OnAllDead();
    (void)life.OnOutputEnded();
    (void)life.OnGone();
    EXPECT_TRUE(life.gone()) << step.Text();
    EXPECT_NE(life.closed(), life.start() == Life::Start::kFailed) << step.Text();
  }
}

}  // namespace
}  // namespace holdfast::process
