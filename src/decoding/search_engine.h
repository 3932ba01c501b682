#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "decoding/search/search_loop.h"
#include "decoding/search_models.h"

namespace dragoman::decoding {

/// One sentence to search, and who is told.
struct SearchTask {
  size_t sentence = 0;  ///< the caller's number of it, which the result carries
  SentenceRequest request = {};
  std::shared_ptr<const SearchOptions> options = {};  ///< checked; those of threads are not read
  /// Called once, in the thread of the engine, with the result or with the error that this sentence met. It must not
  /// throw.
  std::function<void(SearchResult)> done = {};
  int64_t tokens = 0;  ///< see tokens_of
};

/// Returns: what a sentence counts beside others: its source tokens. A text that continues its source counts the rows
/// of the cache that it may take, those that it shares with the sentence before it left out.
/// @param before  null for none
int64_t tokens_of(const SentenceRequest& request, const SentenceRequest* before);

/// Searches sentences with one worker, each with options of its own: admits tasks at any time, feeds all sentences
/// under way through the models together, and tells each task its result. A batch run (ParallelSearch), the service
/// with its queue (SearchService) and inspection use this engine. The result of a sentence never depends on the
/// sentences beside it, and an error in one is its own alone.
/// Threads: one at a time.
class SearchEngine {
 public:
  /// @param models  must outlive the engine;  @param team_size  threads that share its products, the caller's counted
  SearchEngine(const SearchModels& models, int team_size) : models_(models), team_size_(team_size) {}
  /// Drops the tasks that are under way. They are not told.
  ~SearchEngine();
  SearchEngine(const SearchEngine&) = delete;
  SearchEngine& operator=(const SearchEngine&) = delete;

  /// Whether no task is under way.
  bool idle() const { return tasks_.empty(); }
  /// Returns: the sum of SearchTask::tokens of the tasks under way.
  int64_t tokens() const { return tokens_; }

  /// Begins tasks. Whatever goes wrong, each of them is under way afterwards or has been told. Those that are
  /// cancelled or out of time are told at once.
  void admit(std::list<SearchTask> tasks);
  /// Computes one token of every hypothesis under way and tells the tasks that have finished. An error of the model
  /// itself ends all tasks under way; the next ones are searched with a new worker.
  void step();

 private:
  using Tasks = std::map<size_t, SearchTask>;

  void renew();
  std::vector<int32_t> encode(std::list<SearchTask>& tasks);
  void admit_alone(std::list<SearchTask> tasks, const std::exception_ptr& error);
  void begin(SearchTask& task, int32_t slot);
  void finish(SearchResult result);
  void fail_all(const std::exception_ptr& error);

  const SearchModels& models_;
  int team_size_;
  std::unique_ptr<SearchWorker> worker_;
  std::unique_ptr<SearchLoop> loop_;
  Tasks tasks_;  // by their number in the loop
  size_t next_number_ = 0;
  int64_t tokens_ = 0;
};

}  // namespace dragoman::decoding
