#include "data/check_pictures.h"

#include <algorithm>
#include <iterator>

#include "data/file_bytes.h"
#include "data/parallel_for.h"
#include "data/picture_head.h"

namespace falcon::data {
namespace {

struct CheckThread {
  FileBytes file;
  JpegDecoder decoder;
  SetContent content;
  std::vector<SkippedItem> left_out;
};

}  // namespace

SetContent check_pictures(const PictureList& pictures, int threads,
                          const ProgressFunction& progress, std::vector<SkippedItem>& left_out) {
  std::vector<CheckThread> workers(static_cast<std::size_t>(thread_count(threads, pictures.count)));
  parallel_for(pictures.count, static_cast<int>(workers.size()), [&](int t, std::int64_t i) {
    CheckThread& thread = workers[static_cast<std::size_t>(t)];
    const std::string item = pictures.item(i);
    if (const auto problem = whole_file_problem(pictures.path(i), thread.file, thread.decoder)) {
      thread.left_out.push_back({item, problem->reason, problem->detail});
    } else {
      thread.content.add(item, thread.file.bytes());
    }
    if (t == 0 && progress) progress(i + 1, pictures.count);
  });
  SetContent content;
  for (CheckThread& worker : workers) {
    content.add(worker.content);
    std::ranges::move(worker.left_out, std::back_inserter(left_out));
  }
  return content;
}

}  // namespace falcon::data
