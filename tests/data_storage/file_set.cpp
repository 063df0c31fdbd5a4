#include "file_set.h"

#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

#include "base/counter_random.h"

namespace falcon::test {

std::string content_of(std::size_t bytes, unsigned seed) {
  base::CounterRandom random({seed});
  std::string content(bytes, '\0');
  for (char& one : content) one = static_cast<char>(random.next());
  return content;
}

void write_file(const std::filesystem::path& path, const std::string& content) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const bool good = descriptor >= 0 &&
                    write(descriptor, content.data(), content.size()) == std::ssize(content) &&
                    fsync(descriptor) == 0;
  if (descriptor >= 0) close(descriptor);
  if (!good) throw std::runtime_error("cannot write " + path.string());
}

FileSet::FileSet(const std::filesystem::path& folder, const std::vector<std::size_t>& sizes)
    : NumberSet(std::ssize(sizes)) {
  for (const std::size_t size : sizes) {
    const auto number = static_cast<unsigned>(files_.size());
    files_.push_back(folder / std::to_string(number));
    write_file(files_.back(), content_of(size, number));
  }
}

}  // namespace falcon::test
