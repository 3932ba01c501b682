#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "decoding/search_engine.h"

namespace dragoman::decoding {

/// The threads of a SearchService.
struct ServiceThreads {
  int workers = 0;             ///< each with sentences of its own; 0 = one a core
  int threads_per_worker = 1;  ///< that compute the products of one worker together
};

/// Threads that search sentences as they come, each thread with a SearchEngine: a sentence joins those under way at the
/// next step, and leaves when it is finished. Its result is the one ParallelSearch::run gives.
/// Threads: any number at once.
class SearchService {
 public:
  /// @param models  must outlive the service
  SearchService(const SearchModels& models, const ServiceThreads& threads);
  /// Waits until every task has been answered.
  ~SearchService();
  SearchService(const SearchService&) = delete;
  SearchService& operator=(const SearchService&) = delete;

  /// Takes over all of them. A list, here and within, so that no memory is asked for where a task could be lost.
  void submit(std::list<SearchTask> tasks);

 private:
  // Tasks for a thread that has `tokens` under way (SearchEngine::tokens); waits for one if that is 0. None at the end.
  std::list<SearchTask> take(int64_t tokens);
  void run(SearchEngine& engine);
  void end();

  const SearchModels& models_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::list<SearchTask> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dragoman::decoding
