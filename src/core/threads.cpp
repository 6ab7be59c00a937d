#include "threads.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace torchalu {

namespace {

// Threads that live as long as the process. Starting them anew would cost more than a small pass,
// and a new thread waits for its turn where a waiting one is woken at once.
class Helpers {
 public:
  // Calls work(0) .. work(parts - 1). One caller at a time: a second one does its work alone.
  void run(int parts, int threads, const std::function<void(int)> &work) {
    const std::unique_lock busy(busy_, std::try_to_lock);
    if (!busy || threads < 2) {
      for (int part = 0; part < parts; ++part) work(part);
      return;
    }
    std::unique_lock lock(mutex_);
    for (; count_ < threads - 1; ++count_) std::thread([this] { serve(); }).detach();
    work_ = &work, next_ = 0, parts_ = unfinished_ = parts, places_ = threads - 1, error_ = nullptr;
    wanted_.notify_all();
    take_parts(lock);
    finished_.wait(lock, [this] { return unfinished_ == 0; });
    places_ = 0;
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wanted_.wait(lock, [this] { return places_ > 0 && next_ < parts_; });
      --places_;
      take_parts(lock);
    }
  }
  void take_parts(std::unique_lock<std::mutex> &lock) {
    while (next_ < parts_) {
      const int part = next_++;
      const auto &work = *work_;
      lock.unlock();
      std::exception_ptr error;
      try {
        work(part);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (!error_) error_ = error;
      if (--unfinished_ == 0) finished_.notify_one();
    }
  }

  std::mutex busy_, mutex_;
  std::condition_variable wanted_, finished_;
  const std::function<void(int)> *work_ = nullptr;
  std::exception_ptr error_;  // the first of a part, for the caller
  int count_ = 0, next_ = 0, parts_ = 0, unfinished_ = 0, places_ = 0;
};

// Never destroyed: its threads may outlast every static object. A fork leaves them behind, and the
// child starts its own.
Helpers *helpers = nullptr;

Helpers &current_helpers() {
  static std::once_flag once;
  std::call_once(once, [] {
    helpers = new Helpers;
#if !defined(_WIN32)
    pthread_atfork(nullptr, nullptr, [] { helpers = new Helpers; });
#endif
  });
  return *helpers;
}

}  // namespace

void divide(std::int64_t count, int parts, int threads,
            const std::function<void(std::int64_t, std::int64_t, int)> &body) {
  current_helpers().run(parts, threads,
                        [&](int part) { body(count * part / parts, count * (part + 1) / parts, part); });
}

}  // namespace torchalu
