// falcon_tokenize_bench FOLDER QUESTIONS [THREADS]: makes a SQuAD v1.1 set with that many questions
// in FOLDER, unless it is there, and times reading and tokenizing it on THREADS threads (0, the
// default: one per allowed core), then the start from the cache. Files come from the page cache.
// Prints one JSON line; see docs/performance.md.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "data/make_squad.h"
#include "data/parallel_for.h"
#include "data/squad_cache.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"

namespace {

struct Cost {
  double wall_s = 0;
  double cpu_s = 0;
};

template <class Work>
Cost cost_of(Work work) {
  const double start_s = falcon::steady_now_s();
  const double start_cpu_s = falcon::process_cpu_s();
  work();
  return {falcon::steady_now_s() - start_s, falcon::process_cpu_s() - start_cpu_s};
}

void measure(const std::filesystem::path& folder, std::int64_t questions, int threads) {
  using namespace falcon::data;
  make_squad(folder, {.train = questions}, threads);
  const std::filesystem::path file = folder / "train-v1.1.json";
  const Vocabulary vocabulary = Vocabulary::read(folder / kVocabularyName);
  const Cost reading = cost_of([&] {
    read_squad(
        file, [](SquadParagraph&&) {}, [](auto&&) {});
  });
  SquadTokens tokens;
  const Cost all = cost_of([&] { tokens = tokenize_squad(file, WordPiece(vocabulary), threads); });
  cached_squad_tokens(file, vocabulary, threads);  // is kept there, if it was not
  const Cost cached = cost_of([&] {
    if (cached_squad_tokens(file, vocabulary, threads).was_cached) return;
    throw falcon::Error(falcon::ExitCode::kHost, "the cache cannot be written");
  });
  const auto count = static_cast<double>(tokens.questions.size());
  std::printf(
      "{\"questions\": %zu, \"tokens\": %zu, \"threads\": %d, \"wall_s\": %.3f, \"cpu_s\": %.3f, "
      "\"questions_per_s\": %.0f, \"s_per_100k\": %.3f, \"of_this_reading\": {\"wall_s\": "
      "%.3f, \"cpu_s\": %.3f}, \"from_cache\": {\"wall_s\": %.3f, \"cpu_s\": %.3f}}\n",
      tokens.questions.size(), tokens.ids.size(), thread_count(threads, questions), all.wall_s,
      all.cpu_s, count / all.wall_s, all.wall_s * 1e5 / count, reading.wall_s, reading.cpu_s,
      cached.wall_s, cached.cpu_s);
}

}  // namespace

int main(int argc, char** argv) {
  const long long questions = argc > 2 ? std::atoll(argv[2]) : 0;
  if (argc < 3 || argc > 4 || questions < 1) {
    std::fprintf(stderr, "usage: falcon_tokenize_bench FOLDER QUESTIONS [THREADS]\n");
    return 2;
  }
  try {
    measure(argv[1], questions, argc > 3 ? std::atoi(argv[3]) : 0);
  } catch (const falcon::Error& error) {
    std::fprintf(stderr, "falcon_tokenize_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
