#include "data/page_cache.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/file_bytes.h"
#include "data/parallel_for.h"

namespace falcon::data {
namespace {

struct Closer {
  int descriptor;
  ~Closer() {
    if (descriptor >= 0) close(descriptor);
  }
};

struct Pages {
  std::int64_t resident = 0, all = 0;
};

// The kernel says "resident" of everything to those it does not want to tell.
bool is_told(const struct stat& status, const std::filesystem::path& file) {
  const uid_t user = geteuid();
  return user == 0 || user == status.st_uid || access(file.c_str(), W_OK) == 0;
}

/// "" or why it is not known.
std::string count_pages(const std::filesystem::path& file, Pages& pages, std::int64_t& bytes) {
  const Closer closer{open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (closer.descriptor < 0 || fstat(closer.descriptor, &status) != 0 || status.st_size == 0) {
    return "";
  }
  if (!is_told(status, file)) return "mincore(2) tells only the owner of the files";
  const auto size = static_cast<std::size_t>(status.st_size);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* map = mmap(nullptr, size, PROT_READ, MAP_SHARED, closer.descriptor, 0);
  if (map == MAP_FAILED) return "mmap: " + std::generic_category().message(errno);
  std::vector<unsigned char> states((size + page - 1) / page);
  const int result = mincore(map, size, states.data());
  const int problem = errno;
  munmap(map, size);
  if (result != 0) return "mincore: " + std::generic_category().message(problem);
  pages.all += std::ssize(states);
  pages.resident += std::ranges::count_if(states, [](unsigned char one) { return (one & 1) != 0; });
  bytes += status.st_size;
  return "";
}

}  // namespace

std::vector<std::filesystem::path> sample_files(const Dataset& dataset, std::int64_t most) {
  const std::int64_t count = dataset.file_count();
  const std::int64_t wanted = std::min(count, most);
  std::vector<std::filesystem::path> files;
  for (std::int64_t i = 0; i < wanted; ++i) files.push_back(dataset.file(i * count / wanted));
  return files;
}

Residency residency(std::span<const std::filesystem::path> files) {
  Residency out;
  Pages pages;
  for (const std::filesystem::path& file : files) {
    const std::string problem = count_pages(file, pages, out.bytes);
    if (!problem.empty()) {
      out.pct = Measured<double>::missing(problem);
      return out;
    }
  }
  out.pct = pages.all == 0 ? Measured<double>::missing("there is no file to look at")
                           : Measured<double>(100.0 * static_cast<double>(pages.resident) /
                                              static_cast<double>(pages.all));
  return out;
}

std::string drop_from_cache(const Dataset& dataset, int threads) {
  std::mutex mutex;
  std::string first_problem;
  const std::int64_t count = dataset.file_count();
  parallel_for(count, thread_count(threads, count), [&](int, std::int64_t i) {
    const std::filesystem::path file = dataset.file(i);
    const Closer closer{open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    const int problem =
        closer.descriptor < 0 ? errno : posix_fadvise(closer.descriptor, 0, 0, POSIX_FADV_DONTNEED);
    if (problem == 0) return;
    const std::lock_guard lock(mutex);
    if (first_problem.empty()) {
      first_problem = file.string() + ": " + std::generic_category().message(problem);
    }
  });
  return first_problem;
}

std::int64_t read_through(const Dataset& dataset, int threads, const std::function<void()>& check) {
  const std::int64_t count = dataset.file_count();
  const int used = thread_count(threads, count);
  std::vector<FileBytes> buffers(static_cast<std::size_t>(used));
  std::atomic<std::int64_t> bytes{0};
  parallel_for(count, used, [&](int thread, std::int64_t i) {
    check();
    FileBytes& buffer = buffers[static_cast<std::size_t>(thread)];
    std::string problem;
    if (buffer.read(dataset.file(i), problem)) bytes += std::ssize(buffer.bytes());
  });
  return bytes;
}

}  // namespace falcon::data
