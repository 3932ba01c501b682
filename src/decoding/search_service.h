#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "decoding/parallel_search.h"
#include "decoding/search/search_loop.h"

namespace dragoman::decoding {

/// One sentence to search, and who is told.
struct SearchTask {
  std::vector<int32_t> source;  ///< ids with the end
  SearchOptions options;        ///< checked; those of threads say nothing here
  SentenceRequest request;
  /// Called once, in a thread of the service: with the output, or with the error that the search of this sentence met.
  /// Must not throw.
  std::function<void(SearchOutput output, std::exception_ptr error)> done;
};

/// Threads that search sentences as they come, each with its own options: a sentence joins those under way at the next
/// step, and leaves when it is finished. Its output is the one ParallelSearch::run gives, whatever is searched beside
/// it, and an error in it is its own alone. Safe for use by any number of threads at once.
class SearchService {
 public:
  /// @param search  must outlive the service;  @param options  workers and threads_per_worker (0 = 1) are looked at
  SearchService(const ParallelSearch& search, const SearchOptions& options);
  /// Waits until every task has been answered.
  ~SearchService();
  SearchService(const SearchService&) = delete;
  SearchService& operator=(const SearchService&) = delete;

  /// Takes over all of them. A list, here and within, so that no memory is asked for where a task could be lost.
  void submit(std::list<SearchTask> tasks);

 private:
  class Thread;

  // Tasks for a thread that has `tokens` source tokens under way; waits for one if that is 0. None at the end.
  std::list<SearchTask> take(int64_t tokens);
  void run(Thread& thread);
  void end();

  const ParallelSearch& search_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::list<SearchTask> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dragoman::decoding
