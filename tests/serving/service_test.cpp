// The queue between requests and workers: turns, bounds, cancels, deadlines.
#include "serving/service/translation_service.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "base/random.h"
#include "served_tiny_model.h"
#include "serving/http/http_message.h"
#include "support/wait_until.h"

namespace dragoman::serving {
namespace {

using namespace std::chrono_literals;
using Outcome = std::pair<std::vector<decoding::Translation>, std::exception_ptr>;

int status_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const HttpError& known) {
    return known.status();
  } catch (...) {
    return 500;
  }
}

class Service : public testing::Test {
 protected:
  TranslationJob job_of(const std::vector<std::string>& lines) const {
    const ServedModel& model = models_->all().front();
    TranslationJob job;
    job.models = models_;
    job.searches = {{&model, model.search}};
    for (const std::string& line : lines) {
      job.lines.push_back({line});
    }
    job.deadline = TranslationService::Clock::now() + 60s;
    return job;
  }
  static std::future<Outcome> submit(TranslationService& service, TranslationJob job) {
    const auto promise = std::make_shared<std::promise<Outcome>>();
    job.done = [promise](std::vector<decoding::Translation> translations, const std::exception_ptr& error) {
      promise->set_value({std::move(translations), error});
    };
    service.submit(std::move(job));
    return promise->get_future();
  }
  /// Returns: the outcome to come; nothing when there is no room for the lines in the queue yet.
  std::optional<std::future<Outcome>> try_submit(TranslationService& service, const std::vector<std::string>& lines) {
    try {
      return submit(service, job_of(lines));
    } catch (const HttpError&) {
      return std::nullopt;
    }
  }
  std::string alone(const std::string& line) const {
    return models_->all().front().translator->translate({&line, 1}, models_->all().front().search).front().text;
  }

  std::shared_ptr<const ServedModels> models_ = served_tiny_models({{"en", "de"}});
};

TEST_F(Service, AnswersAreThoseOfEachLineAlone) {
  TranslationService service(2, 64, 60s);
  base::Random random(1);
  std::vector<std::vector<std::string>> jobs;
  std::vector<std::future<Outcome>> outcomes;
  for (int i = 0; i < 60; ++i) {
    std::vector<std::string> lines(random.below(6));
    for (std::string& line : lines) {
      line = decoding::random_line(random, random.below(9));
    }
    jobs.push_back(lines);
    std::optional<std::future<Outcome>> taken;  // the speed is not known at first, so the queue is short
    ASSERT_TRUE(test_support::wait_until([&] { return (taken = try_submit(service, lines)).has_value(); }));
    outcomes.push_back(std::move(*taken));
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Outcome outcome = outcomes[i].get();
    ASSERT_EQ(outcome.second, nullptr);
    ASSERT_EQ(outcome.first.size(), jobs[i].size());
    for (size_t line = 0; line < jobs[i].size(); ++line) {
      EXPECT_EQ(outcome.first[line].text, alone(jobs[i][line])) << jobs[i][line];
    }
  }
  EXPECT_EQ(service.counts().jobs, 0);
  EXPECT_EQ(service.counts().waiting_cost, 0);
}

TEST_F(Service, ASmallRequestDoesNotWaitForABigOne) {
  TranslationService service(1, 64, 3600s);
  base::Random random(2);
  std::vector<std::string> lines(400);
  for (std::string& line : lines) {
    line = decoding::random_line(random, 10);
  }
  TranslationJob big = job_of(lines);
  std::atomic<size_t> last_line{0};
  big.on_token = [&](size_t line, const decoding::StreamedToken&) {
    last_line = std::max(last_line.load(), line);
    return true;
  };
  // The first request ends the special case of an empty server, which admits a request of any size.
  auto slow = submit(service, std::move(big));
  std::optional<std::future<Outcome>> quick;
  const auto is_through = [&] { return slow.wait_for(0s) == std::future_status::ready; };
  ASSERT_TRUE(
      test_support::wait_until([&] { return (quick = try_submit(service, {"the cat"})).has_value() || is_through(); }));
  ASSERT_FALSE(is_through()) << "the big request was through before a small one got in";
  EXPECT_EQ(quick->get().second, nullptr);
  EXPECT_LT(last_line, lines.size() - 20) << "the small one came last";
  EXPECT_EQ(slow.get().second, nullptr);
}

TEST_F(Service, TooMuchIsRefusedAtOnce) {
  TranslationService service(1, 64, 0s);
  std::vector<std::future<Outcome>> taken;
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    try {
      taken.push_back(submit(service, job_of({"the cat runs and the dog sleeps and the mouse runs"})));
    } catch (const HttpError& error) {
      EXPECT_EQ(error.status(), 503);
      EXPECT_EQ(error.headers().front().name, "Retry-After");
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(service.counts().rejected, static_cast<uint64_t>(refused));
  for (auto& outcome : taken) {
    EXPECT_EQ(outcome.get().second, nullptr);
  }
}

TEST_F(Service, CancelledAndLateJobsEndAndFreeTheirPlace) {
  TranslationService service(1, 64, 3600s);
  std::vector<std::string> lines(2000, "the cat runs and the dog sleeps.");
  std::stop_source stop;
  TranslationJob job = job_of(lines);
  job.cancel = stop.get_token();
  auto cancelled = submit(service, std::move(job));
  stop.request_stop();
  EXPECT_EQ(status_of(cancelled.get().second), 503);
  TranslationJob late = job_of(lines);
  late.deadline = TranslationService::Clock::now() + 5ms;
  EXPECT_EQ(status_of(submit(service, std::move(late)).get().second), 504);
  EXPECT_EQ(service.counts().waiting_cost, 0);
  EXPECT_EQ(service.counts().cancelled, 1U);
  EXPECT_EQ(service.counts().timed_out, 1U);
  EXPECT_EQ(submit(service, job_of({"the cat"})).get().first.front().text, alone("the cat"));
}

TEST_F(Service, AnErrorIsOfItsJobAlone) {
  TranslationService service(1, 2048, 3600s);
  TranslationJob wrong = job_of({"the cat"});
  wrong.searches.front().options.beam_size = 0;
  auto bad = submit(service, std::move(wrong));
  auto good = submit(service, job_of({"the cat"}));
  EXPECT_EQ(status_of(bad.get().second), 500);
  EXPECT_EQ(good.get().first.front().text, alone("the cat"));
  EXPECT_EQ(service.counts().failed, 1U);
}

// The models of the last job end in the thread of the service, which may wait for the models' threads; never in one of
// those.
TEST_F(Service, EndsWithTheLastJobAndItsModels) {
  for (int trial = 0; trial < 40; ++trial) {
    models_ = served_tiny_models({{"en", "de"}});
    std::future<Outcome> outcome;
    const std::weak_ptr<const ServedModels> models = models_;
    const size_t lines = trial % 2 == 0 ? 1 : 50;
    {
      TranslationService service(2, 2048, 3600s);
      TranslationJob job = job_of(std::vector<std::string>(lines, "the cat runs"));
      models_.reset();
      outcome = submit(service, std::move(job));
    }
    EXPECT_EQ(outcome.get().first.size(), lines);
    EXPECT_TRUE(models.expired());
  }
}

}  // namespace
}  // namespace dragoman::serving
