#include "serving/watch.h"

#include <thread>

#include "serving/http/router.h"
#include "serving/routes/page_routes.h"
#include "serving/routes/run_routes.h"

namespace dragoman::serving {
namespace {

constexpr std::chrono::milliseconds kDrainTime{2000};

}  // namespace

// The routes of the page and of the run, and the server that answers them.
class WatchServer {
 public:
  WatchServer(const WatchOptions& options, Signals signals)
      : host_(options.listen.host), server_(options.listen, HttpLimits(), hooks(), signals) {
    add_page_routes(router_);
    add_run_routes(router_, options.folder);
  }

  std::string address() const { return address_of(host_, server_.port()); }
  HttpServer& http() { return server_; }

 private:
  HttpHooks hooks() {
    return {.handle = [this](std::shared_ptr<HttpExchange> exchange) { router_.handle(exchange); },
            .headers = headers_of_every_answer(OtherOrigins::kRefused)};
  }

  std::string host_;
  Router router_;
  HttpServer server_;
};

class RunWatcher::State {
 public:
  explicit State(const WatchOptions& options)
      : server_(options, Signals::kLeft), thread_([this] { server_.http().run([] {}, [] {}); }) {}
  ~State() {
    server_.http().stop();
    thread_.join();
  }

  std::string address() const { return server_.address(); }

 private:
  WatchServer server_;
  std::thread thread_;
};

RunWatcher::RunWatcher(const WatchOptions& options) : state_(std::make_unique<State>(options)) {}
RunWatcher::~RunWatcher() = default;

std::string RunWatcher::address() const {
  return state_->address();
}

void watch(const WatchOptions& options, const std::function<void(const std::string& address)>& say) {
  WatchServer server(options, Signals::kHandled);
  say(server.address());
  server.http().run([&] { server.http().drain(kDrainTime); }, [] {});
}

}  // namespace dragoman::serving
